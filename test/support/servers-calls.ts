/** Calls on the official servers, in an order that makes sense: later ones read what earlier ones wrote. */
export interface Case {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

type Row = readonly [tool: string, args: Readonly<Record<string, unknown>>];

const cases = (rows: readonly Row[]): readonly Case[] => rows.map(([tool, args]) => ({ tool, args }));

export const callsOnEverything = cases([
  ['echo', { message: 'Grüße 👋 "quoted" \u0000 \ud83d\ude00\n' }],
  ['echo', { message: '' }],
  ['echo', { message: 'x'.repeat(200_000) }],
  ['get-sum', { a: 1.5, b: -2 }],
  ['get-sum', { a: 9_007_199_254_740_991, b: 1e-7 }],
  ['get-structured-content', { location: 'Chicago' }],
  ['get-structured-content', { location: 'New York' }],
  ['get-tiny-image', {}],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-annotated-message', { messageType: 'success' }],
  ['get-annotated-message', { messageType: 'debug', includeImage: false }],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
  ['get-resource-reference', { resourceType: 'Blob', resourceId: 2 }],
  ['get-resource-links', { count: 10 }],
  ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,recourse', outputType: 'resource' }],
  ['trigger-long-running-operation', { duration: 0.2, steps: 4 }],
]);

export function callsOnFiles(folder: string): readonly Case[] {
  const at = (name: string) => `${folder}/${name}`;
  return cases([
    ['list_allowed_directories', {}],
    ['create_directory', { path: at('notes/deep') }],
    ['write_file', { path: at('notes/a.txt'), content: 'one\ntwo\nGrüße 👋\n' }],
    ['write_file', { path: at('notes/deep/b.md'), content: '' }],
    ['read_text_file', { path: at('notes/a.txt') }],
    ['read_text_file', { path: at('notes/a.txt'), head: 1 }],
    ['read_text_file', { path: at('notes/a.txt'), tail: 1 }],
    ['read_file', { path: at('notes/a.txt') }],
    ['read_media_file', { path: at('pixel.png') }],
    ['edit_file', { path: at('notes/a.txt'), edits: [{ oldText: 'two', newText: 'zwei' }], dryRun: true }],
    ['edit_file', { path: at('notes/a.txt'), edits: [{ oldText: 'two', newText: 'zwei' }] }],
    ['read_multiple_files', { paths: [at('notes/a.txt'), at('nothing.txt'), at('notes/deep/b.md')] }],
    ['list_directory', { path: folder }],
    ['list_directory_with_sizes', { path: at('notes'), sortBy: 'size' }],
    ['directory_tree', { path: folder }],
    ['directory_tree', { path: folder, excludePatterns: ['deep'] }],
    ['search_files', { path: folder, pattern: '**/*.md' }],
    ['search_files', { path: folder, pattern: '*.nothing' }],
    ['move_file', { source: at('notes/deep/b.md'), destination: at('c.md') }],
    ['list_directory', { path: folder }],
    ['get_file_info', { path: at('notes/a.txt') }],
  ]);
}

const ada = { name: 'Ada', entityType: 'person', observations: ['writes programs', 'likes looms'] };
const engine = { name: 'Engine', entityType: 'machine', observations: [] };
const programs = { from: 'Ada', to: 'Engine', relationType: 'programs' };

/** Leaves the memory as empty as it was. */
export const callsOnMemory = cases([
  ['read_graph', {}],
  ['create_entities', { entities: [ada, engine] }],
  ['create_entities', { entities: [ada] }],
  ['create_relations', { relations: [programs] }],
  ['add_observations', { observations: [{ entityName: 'Ada', contents: ['knows Charles 👋'] }] }],
  ['search_nodes', { query: 'loom' }],
  ['open_nodes', { names: ['Engine', 'Nobody'] }],
  ['read_graph', {}],
  ['delete_observations', { deletions: [{ entityName: 'Ada', observations: ['likes looms'] }] }],
  ['delete_relations', { relations: [programs] }],
  ['delete_entities', { entityNames: ['Engine'] }],
  ['read_graph', {}],
  ['delete_entities', { entityNames: ['Ada', 'Nobody'] }],
  ['read_graph', {}],
]);
