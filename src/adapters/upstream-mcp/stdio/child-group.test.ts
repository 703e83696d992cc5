import assert from 'node:assert/strict';
import test from 'node:test';
import { childEnvironment } from './child-group.ts';

test('a child gets certificates, proxies and locale, in capitals and small, and nothing else', () => {
  const passed = {
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    NODE_USE_ENV_PROXY: '1',
    NODE_USE_SYSTEM_CA: '1',
    SSL_CERT_FILE: '/ca.pem',
    SSL_CERT_DIR: '/certs',
    REQUESTS_CA_BUNDLE: '/ca.pem',
    CURL_CA_BUNDLE: '/ca.pem',
    PIP_CERT: '/ca.pem',
    HTTP_PROXY: 'http://proxy:3128',
    HTTPS_PROXY: 'http://user:word@proxy:3128',
    ALL_PROXY: 'socks5://proxy:1080',
    NO_PROXY: 'localhost',
    https_proxy: 'http://proxy:3128',
    no_proxy: 'localhost',
    npm_config_registry: 'https://registry.example',
    NPM_CONFIG_CAFILE: '/ca.pem',
    NPM_CONFIG_PROXY: 'http://proxy:3128',
    NPM_CONFIG_HTTPS_PROXY: 'http://proxy:3128',
    NPM_CONFIG_NOPROXY: 'localhost',
    NPM_CONFIG_CACHE: '/cache/npm',
    LANG: 'de_DE.UTF-8',
    LANGUAGE: 'de:en',
    LC_ALL: 'C',
    TZ: 'UTC',
    TMPDIR: '/tmp/mine',
    XDG_CACHE_HOME: '/cache',
  };
  const kept = {
    npm_config__authToken: 's',
    AWS_SECRET_ACCESS_KEY: 's',
    RECOURSE_KEY: 's',
    recourse_key: 's',
    TERM: 'xterm',
    NODE_OPTIONS: '--inspect',
    LD_PRELOAD: 'x',
    LC_secret: 's',
    HTTP_PROXY_PASSWORD: 's',
    EMPTY: undefined,
  };
  const given = childEnvironment({ OWN: 'mine', TZ: 'CET' }, { ...passed, ...kept });
  for (const [name, value] of Object.entries(passed)) if (name !== 'TZ') assert.equal(given[name], value, name);
  for (const name of Object.keys(kept)) assert.ok(!(name in given), name);
  assert.deepEqual([given['OWN'], given['TZ']], ['mine', 'CET'], 'what is configured goes before');
  assert.equal(given['PATH'], process.env['PATH']);
});
