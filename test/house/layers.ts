/** The layers of src: which may import which. */

const below = ['core', 'ports', 'shell', 'adapters', 'doors', 'client', 'config', 'extension', 'compose'];

/** Which layers each layer may import. Only `index` and `main-cli` are above `main`, the composition root. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: ['core'],
  ports: ['core', 'ports'],
  shell: ['core', 'ports', 'shell'],
  adapters: ['core', 'ports', 'adapters'],
  doors: ['core', 'shell', 'doors'],
  client: ['core', 'client'],
  config: ['core', 'ports', 'config'],
  faults: ['core', 'config', 'faults'],
  demo: ['core', 'faults', 'demo'],
  extension: ['core', 'ports', 'extension'],
  // What ships as an extension knows no more than any other.
  extensions: ['extension', 'extensions'],
  compose: [...below, 'extensions'],
  main: below,
  'main-cli': ['core', 'ports', 'shell', 'adapters', 'doors', 'config', 'compose', 'faults', 'demo', 'main'],
  index: ['core', 'ports', 'adapters', 'config', 'compose', 'main'],
};
