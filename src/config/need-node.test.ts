import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { needNode } from './need-node.ts';

test('a Node that is new enough passes without a word', () => {
  for (const version of ['24.0.0', '24.21.0', '100.1.2']) needNode(version);
});

test('an older Node gets one sentence that says what to do', () => {
  for (const version of ['0.12.18', '18.20.8', '20.20.2', '23.11.1']) {
    const sentence = `recourse-gateway needs Node 24 or newer and this is v${version}: install a newer Node`;
    assert.throws(() => needNode(version), { message: sentence });
  }
});

test('the package is loaded far enough on an old Node to say so, although that Node lacks some modules', () => {
  const pretend = `
    import { registerHooks } from 'node:module';
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
    registerHooks({
      resolve(name, context, next) {
        if (name === 'node:sqlite') throw new Error('ERR_UNKNOWN_BUILTIN_MODULE');
        return next(name, context);
      },
    });
  `;
  const entry = new URL('../index.ts', import.meta.url).href;
  const words = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, '--input-type=module'];
  const { status, stderr } = spawnSync(process.execPath, [...words, '-e', `import '${entry}'`], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^Error: recourse-gateway needs Node 24 or newer and this is v20\.20\.2: install a newer Node$/m,
  );
});
