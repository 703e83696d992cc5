/**
 * Which variables does a child get? What a program needs to be found, to reach others from this machine, and to speak its language;
 * then those that its configuration names. No terminal, and nothing of the gateway's own.
 */
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';

/** Certificates, proxies, languages, places for files: on machines that need them programs fail without. */
const surroundings: ReadonlySet<string> = new Set([
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'PIP_CERT',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'NPM_CONFIG_REGISTRY',
  'NPM_CONFIG_CAFILE',
  'NPM_CONFIG_PROXY',
  'NPM_CONFIG_HTTPS_PROXY',
  'NPM_CONFIG_NOPROXY',
  'NPM_CONFIG_CACHE',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'XDG_CACHE_HOME',
]);

export function childEnvironment(
  own: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const passedOn: [string, string][] = Object.entries(getDefaultEnvironment()).filter(([name]) => name !== 'TERM');
  for (const [name, value] of Object.entries(ours))
    if (value !== undefined && isOfSurroundings(name)) passedOn.push([name, value]);
  // INVARIANT: whatever is the gateway's own, a key for example, is nothing for its tools.
  const harmless = passedOn.filter(([name]) => !name.toUpperCase().startsWith('RECOURSE_'));
  return { ...Object.fromEntries(harmless), ...own };
}

/** Programs read proxies and the settings of npm in small letters, too. */
function isOfSurroundings(name: string): boolean {
  return surroundings.has(name.toUpperCase()) || /^LC_[A-Z]+$/.test(name);
}
