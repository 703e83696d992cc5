import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { actionNames, modelName, type ServedNames, toolNames } from './model-names.ts';

const usable = /^[a-zA-Z0-9_-]{1,64}$/;
const served = (tools: readonly string[], more: Partial<ServedNames> = {}) =>
  toolNames({ tools, servers: ['files', 'git', 'a'], bare: new Set(), only: null, taken: new Set(), ...more });

describe('a name for models', () => {
  test('[C2-names-1] is server__tool where that is clear, and has a mark of its own name otherwise', () => {
    assert.equal(modelName('files/read_file'), 'files__read_file');
    assert.equal(modelName('files/read__file'), 'files__read__file');
    assert.equal(modelName('refund'), 'refund');
    assert.match(modelName('files/read.file'), /^files__read_file_[0-9a-f]{8}$/);
    assert.match(modelName('my.files/read'), /^my_files__read_[0-9a-f]{8}$/);
    assert.match(modelName('a__b/c'), /^a__b__c_[0-9a-f]{8}$/);
    assert.match(modelName('a_/b'), /^a___b_[0-9a-f]{8}$/);
    assert.match(modelName('größe/messen'), /^gr__e__messen_[0-9a-f]{8}$/);
    const long = `files/${'very_'.repeat(30)}long`;
    assert.match(modelName(long), /^files__very_(?:very_)+.*_[0-9a-f]{8}$/);
    assert.equal(modelName(long).length, 64);
    // Exactly 64 characters need no mark, one more does.
    assert.equal(modelName(`files/${'x'.repeat(57)}`), `files__${'x'.repeat(57)}`);
    assert.match(modelName(`files/${'x'.repeat(58)}`), /^files__x+_[0-9a-f]{8}$/);
  });

  test('[C2-names-1] [C2-names-2] is usable, different for different tools, and read back by every form', () => {
    const sign = fc.constantFrom('a', 'b', '_', '__', '-', '.', ' ', '/', 'é', '0', '_0a1b2c3d', 'x'.repeat(30));
    const name = fc.array(sign, { minLength: 1, maxLength: 6 }).map((signs) => signs.join(''));
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 2, maxLength: 12 }), (tools) => {
        const names = served(tools);
        const written = tools.map((own) => names.write(own));
        for (const each of written) assert.match(each, usable);
        assert.equal(new Set(written).size, tools.length, `${tools.join()} → ${written.join()}`);
        for (const own of tools) {
          assert.equal(names.read(names.write(own)), own);
          // Called like another one is listed, the listed one is meant.
          if (!written.includes(own)) assert.equal(names.read(own), own);
          assert.equal(served([own]).write(own), names.write(own), 'whatever else is served');
        }
      }),
    );
  });

  test('stays different where a tool is called like the name of another one', () => {
    const odd = modelName('files/read.file');
    const pairs = [
      ['a/read', 'a__read'],
      ['files/read.file', odd],
      ['files/read.file', odd.replace('__', '/')],
    ] as const;
    for (const tools of pairs) {
      const names = served(tools);
      const [one, other] = tools.map(names.write);
      assert.notEqual(one, other, tools.join());
      // Also where the one that is listed so is not the one that is called so.
      for (const own of tools) assert.equal(names.read(names.write(own)), own, tools.join());
      assert.equal(names.read(one ?? ''), tools[0], tools.join());
    }
  });

  test('of a tool that is not known is that of its server, if there is one', () => {
    const names = served(['files/read']);
    assert.equal(names.read('git__log'), 'git/log');
    assert.equal(names.read('nobody__log'), 'nobody__log');
    assert.equal(names.read('read'), 'read');
  });
});

describe('a bare name', () => {
  test('is that of the tool alone; one that two share, or that the gateway uses itself, is nobody’s', () => {
    const bare = new Set(['files', 'git']);
    const names = served(['files/read', 'files/log', 'git/log', 'git/complete', 'a/read', 'refund', 'git/refund'], {
      bare,
    });
    const shown = ['files/read', 'files/log', 'git/log', 'git/complete', 'a/read', 'refund', 'git/refund'].map(
      names.write,
    );
    assert.deepEqual(shown, ['read', 'files__log', 'git__log', 'git__complete', 'a__read', 'refund', 'git__refund']);
    assert.equal(names.read('read'), 'files/read');
    assert.equal(names.read('files__read'), 'files/read');
    assert.equal(names.read('log'), 'log');
    assert.equal(names.read('complete'), 'complete');
    assert.equal(names.read('refund'), 'refund');
  });

  test('never stands for the tool of a server that is listed under it', () => {
    const names = served(['files/a__read', 'a/read'], { bare: new Set(['files']) });
    assert.deepEqual(['files/a__read', 'a/read'].map(names.write), ['files__a__read', 'a__read']);
    assert.equal(names.read('a__read'), 'a/read');
  });

  test('is the rule where one server is served, and what is not known is of that server', () => {
    const names = served(['files/read', 'files/odd name', 'files/await_approval'], { only: 'files' });
    assert.equal(names.write('files/read'), 'read');
    assert.match(names.write('files/odd name'), /^odd_name_[0-9a-f]{8}$/);
    assert.equal(names.write('files/await_approval'), 'files__await_approval');
    assert.equal(names.read('raed'), 'files/raed');
    assert.equal(names.read('git/log'), 'git/log');
    assert.equal(names.read('await_approval'), 'await_approval');
  });
});

test('actions keep their names if models can be given them', () => {
  const names = actionNames(['take_order', 'pay now', 'pay_now']);
  assert.equal(names.write('take_order'), 'take_order');
  assert.match(names.write('pay now'), /^pay_now_[0-9a-f]{8}$/);
  assert.equal(names.read(names.write('pay now')), 'pay now');
  assert.equal(names.read('pay_now'), 'pay_now');
  assert.equal(names.read('reset_session'), 'reset_session');
});
