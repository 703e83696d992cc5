// Plain JavaScript on purpose: it must run on the Node it is about to turn away.
const required = 24;
const found = Number(process.versions.node.split('.')[0]);
if (found < required) {
  process.stderr.write(
    `recourse needs Node ${required} or newer and this is ${process.version}: run \`npm install\` in the project (it brings Node ${required}) and start it through an npm script.\n`,
  );
  process.exit(1);
}
