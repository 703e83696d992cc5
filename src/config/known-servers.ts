/**
 * Effects of the tools of well-known public servers, by npm package and by the hash of each tool's definition as in
 * recourse.lock. Anyone can use a name, and a changed tool is another tool. Pure.
 */
import type { ErrorMeaning } from './config.ts';
import type { EffectClass } from '../core/taxonomy.ts';

export interface KnownTool {
  readonly sha256: string;
  readonly effect: EffectClass;
  /** Null: nothing is known about its error answers. */
  readonly onError: ErrorMeaning | null;
}

const reads = (sha256: string): KnownTool => ({ sha256, effect: 'pure', onError: null });
const writes = (sha256: string): KnownTool => ({ sha256, effect: 'plain', onError: null });
/** It checks first, and then writes with one rename: an error answer means that nothing was written. */
const writesAtOnce = (sha256: string): KnownTool => ({ sha256, effect: 'plain', onError: 'none' });

/** test/e2e/servers/known.test.ts holds it against the servers themselves. */
export const knownServers: Readonly<Record<string, Readonly<Record<string, KnownTool>>>> = {
  '@modelcontextprotocol/server-everything': {
    echo: reads('7f44ccc849658890126f40e521000825b08a7f09a6f290a43d02db4e8eec6e2b'),
    'get-annotated-message': reads('33c589b1069c55cba23225a122758008ada8f6959c181ccc3374c1901db0fb7f'),
    'get-env': reads('4f50e93bc4caa234f9cfcb55e5a2dc7f01549a67379ef3ae1c7dcbaa0438cad1'),
    'get-resource-links': reads('71bb1c74fa7b1f2fa67d46340e6ed8b1b30efdf15febbc2fb0c3391581451e83'),
    'get-resource-reference': reads('0e0bc5de61c5239e68b14b616b82fc475bb463f80e6288c33fff949a7053b3f8'),
    'get-structured-content': reads('5a604731383feb5bdb90ec49119f20ee2254b17a8405c10bf5def2ff3540db2e'),
    'get-sum': reads('d720dc64eb73dcec4352ec209ee3c9fbbae2939e265b45f37c8b8b0b115e1ea7'),
    'get-tiny-image': reads('3e7e3397d097d89eb8440f3e8c45abf4b4fdd9114ac84c1cf130f555f9bc2e95'),
    'gzip-file-as-resource': writes('8376d5ceda945d5e10ab8f9e4b75f83417931d2438eabd3198464f3ff519094c'),
    'simulate-research-query': writes('e494a3249ad69e0370ae8f25f4a5dbeb13ff31cb7c5ca86009a98d79adc53510'),
    'toggle-simulated-logging': writes('a78d315cf37def309a4c36d6765fcddbd8383c85b939308cb47c7110d7fca592'),
    'toggle-subscriber-updates': writes('e742f7476ce7e72781c707c5fe5223385546f4604f5dc8a6df623754182eebbd'),
    'trigger-long-running-operation': reads('e0d9626dffefbdde30ebce5e5b922e8861a0416c6131bfc627fc44de17a3c19b'),
  },
  '@modelcontextprotocol/server-filesystem': {
    create_directory: writes('720d1604002b3c1a768bc811e8354aac162e946a53a998afc20a6d2e91e583d4'),
    directory_tree: reads('7645bc3877aa38908a5fc772d29ae7a3d3f05587a2e8826979c739cf40c57363'),
    edit_file: writesAtOnce('afd5a5de1972206d0e9762ff8ad7797ee8dd3e1b83f0428426c98d2d2520308e'),
    get_file_info: reads('7f44dc48bac24a1e6b18b92d58d1669c80102fae3843e73579217972b67c80f6'),
    list_allowed_directories: reads('2b43c9bb5cde269e30b4e22b1dc38386f4fecf44dfa8a773a7fce9e38e2c0aa2'),
    list_directory: reads('0d2a2b301c6ec3cbea78b3546aede23781a81bd82000b34f4cbfb3d94bfc8db7'),
    list_directory_with_sizes: reads('8642b99b56eb227fd3ac37d3c43fc984be9b872d85e91874d0600fddbb53c4c3'),
    move_file: writesAtOnce('46d4d5c7da0e8553c69eb9b970927adc0b54bfdcc9876a01983cd9ab3f8d9430'),
    read_file: reads('762744c16831e2becafdbaf9a15da2660e5670dfa1984a368403145b6e9ac3a9'),
    read_media_file: reads('efe5a84687d7780182276a3ae46d325c1c269116ad490fa9149e39bbe50c6777'),
    read_multiple_files: reads('484710b0d97999f0c16d950c850c285a187ac4fbd4fdef5b0f13d0f3b483e164'),
    read_text_file: reads('658bc8c7fed2aefe6102d5e87589689b4a286b83340ac1a3a456b37e6cf4f77a'),
    search_files: reads('6c46ed09491987b06c8c1511d8f6d42031eabaf852eb4d6e80185e317142120b'),
    write_file: writes('0074a16be22f98393479625ae28b74688c56985d581aa37e1ff61f7fbd37d11d'),
  },
  '@modelcontextprotocol/server-memory': {
    add_observations: writes('feac7d8089a1ebc8a23d7dfb2938f24b3a3c8f105d791cb52f622f3819323ee7'),
    create_entities: writes('8f67f2b3ceae725137d28992771cf1483f02be6bb9f9c54c4e57270e3da21afb'),
    create_relations: writes('65123f62aa4a7c0721aea42a0b0e5bbf449744c9a74e0dd6f4b9927233668102'),
    delete_entities: writes('9e6b66f291d08f0884590fb213f5022ebc753a4bddd5bb5abbaf4180c9d1b2f5'),
    delete_observations: writes('28ea265b802faf8a6ee03a1badc3a162f430cf29b6fc229234344f72588432bb'),
    delete_relations: writes('69686b10b9484d6f2bfc65a9c199593c2a4b454dc1cd9987f4ade7ac863a72dc'),
    open_nodes: reads('dcfcf782aa784a7085bc37a719362f88b0270764a15c381a303aa64c2b64ff56'),
    read_graph: reads('5a96ef6ebd66fc2e42a03b638f940e31f785619032e9baf8d00d87ca4abe5c4d'),
    search_nodes: reads('3fea90d6d502f4b29fa98352b8582d1c04661a5c85b01f83965954d94a759c59'),
  },
};

/** Null unless exactly this tool is known. */
export function knownTool(packageName: string | null, tool: string, sha256: string): KnownTool | null {
  if (packageName === null || !Object.hasOwn(knownServers, packageName)) return null;
  const tools = knownServers[packageName] ?? {};
  const known = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  return known?.sha256 === sha256 ? known : null;
}

const packageName = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
/** A version or a tag. An alias, an address or a folder after the @ is another package under this name. */
const packageVersion = /^[A-Za-z0-9.^~-]+$/;

/** The npm package that a command line starts. Null if that is not certain. */
export function packageStarted(command: string, args: readonly string[]): string | null {
  const program = (command.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:cmd|exe)$/i, '');
  const [first, ...others] = args;
  // Clients on Windows start scripts through cmd.
  if (program === 'cmd' && first?.toLowerCase() === '/c') return packageStarted(others[0] ?? '', others.slice(1));
  if (program === 'npx' || program === 'bunx') return packageFetched(args);
  return program === 'node' && first !== undefined ? packageInstalled(first) : null;
}

/** `npx -y name@version`. */
function packageFetched(args: readonly string[]): string | null {
  const spec = args.find((word) => !['-y', '--yes', '-q', '--quiet'].includes(word)) ?? '';
  const at = spec.lastIndexOf('@');
  const [name, version] = at > 0 ? [spec.slice(0, at), spec.slice(at + 1)] : [spec, 'latest'];
  return packageName.test(name) && packageVersion.test(version) ? name : null;
}

/** `node …/node_modules/name/index.js`. */
function packageInstalled(script: string): string | null {
  const parts = script.split(/[\\/]/);
  const folder = parts.lastIndexOf('node_modules') + 1;
  if (folder === 0) return null;
  const name = parts.slice(folder, folder + (parts[folder]?.startsWith('@') ? 2 : 1)).join('/');
  return packageName.test(name) && !parts.includes('..', folder) ? name : null;
}
