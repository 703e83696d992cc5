// Builds HashiCorp Vault from its Go module into node_modules/.cache/vault, for the tests that run against a real one.
// Needs Go, and whatever module proxy Go is set to. Vault is not a dependency: nothing of it is published with this
// package, and without it those tests run against a server of our own.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const name = 'github.com/hashicorp/vault';
const version = 'v1.21.4';
const cache = path.resolve(import.meta.dirname, '../node_modules/.cache/vault');
const binary = path.join(cache, 'vault');
const source = path.join(cache, 'source');

if (existsSync(binary)) {
  console.log(`${binary} is there already`);
  process.exit(0);
}
mkdirSync(cache, { recursive: true });
const env = {
  ...process.env,
  GOPATH: path.join(cache, 'go'),
  GOCACHE: path.join(cache, 'go-build'),
  GOFLAGS: '-modcacherw -mod=mod',
};
const go = (words, options = {}) => execFileSync('go', words, { env, cwd: cache, encoding: 'utf8', ...options });

console.log(`downloading ${name} ${version}`);
const { Dir: folder } = JSON.parse(go(['mod', 'download', '-json', `${name}@${version}`]));
rmSync(source, { recursive: true, force: true });
cpSync(folder, source, { recursive: true });

// The module replaces its own parts by folders that are not in it: the published ones are used instead.
for (const part of ['api', 'api/auth/approle', 'api/auth/kubernetes', 'api/auth/userpass', 'sdk'])
  go(['mod', 'edit', `-dropreplace=${name}/${part}`], { cwd: source });

// Three lines differ from the published sdk. None of them is on a path that the tests use.
change('builtin/logical/transit/path_restore.go', 'err := b.lm.RestorePolicy(', 'err := keyName, b.lm.RestorePolicy(');
change(
  'vault/identity_store_util.go',
  'activateDeduplication(ctx context.Context, req *logical.Request) error',
  'activateDeduplication(ctx context.Context, req *logical.Request, _ string) error',
);
change('vault/logical_system_activation_flags.go', 'ActivationFunc(ctx, nil)', 'ActivationFunc(ctx, nil, "")');

console.log('building it; this takes ten minutes or more, and several gigabytes while it does');
const flags = ['-p', '2', '-tags', 'minimal', '-trimpath', '-ldflags=-s -w'];
go(['build', ...flags, '-o', binary, '.'], { cwd: source, stdio: 'inherit' });
for (const used of ['go', 'go-build', 'source']) rmSync(path.join(cache, used), { recursive: true, force: true });
console.log(execFileSync(binary, ['version'], { encoding: 'utf8' }).trim());

function change(file, before, after) {
  const at = path.join(source, file);
  const text = readFileSync(at, 'utf8');
  if (!text.includes(before)) throw new Error(`${file} is not what it was: see what has changed in ${version}`);
  writeFileSync(at, text.replace(before, after));
}
