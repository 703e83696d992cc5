/** Three large public documents load whole: every operation is a tool, or refused with its reason. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { compileSchema } from '../../../core/schema/compile-schema.ts';
import { readOpenApi } from './read-openapi.ts';

const folder = path.join(import.meta.dirname, '../../../../test/data/openapi');
const verbs = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** Compiling every schema takes long; a sample of them shows that they are schemas. */
const every = 25;

/** Name, and how many of its operations are refused. */
const documents: readonly (readonly [string, number])[] = [
  ['api.github.com', 2],
  ['kubernetes.io', 0],
  ['stripe.com', 1],
];

for (const [name, refusals] of documents)
  test(`${name} loads whole`, (t) => {
    const text = gunzipSync(readFileSync(path.join(folder, `${name}.json.gz`))).toString('utf8');
    const { paths } = JSON.parse(text) as { readonly paths: Readonly<Record<string, object>> };
    const operations = Object.values(paths).flatMap((each) => Object.keys(each).filter((key) => verbs.includes(key)));
    const read = readOpenApi(text);
    assert.ok(read.ok);
    const { tools, refused } = read;
    t.diagnostic(`${name}: ${operations.length} operations, ${tools.length} tools, ${refused.length} refused`);
    for (const { tool, reason } of refused) t.diagnostic(`refused ${tool}: ${reason}`);
    assert.equal(tools.length + refused.length, operations.length);
    assert.equal(refused.length, refusals);
    assert.ok(refused.every(({ reason }) => reason.length > 10));
    const names = [...tools.map((each) => each.name), ...refused.map((each) => each.tool)];
    assert.equal(new Set(names).size, operations.length);
    assert.ok(names.every((each) => /^[A-Za-z0-9_-]{1,64}$/.test(each)));
    for (const { name: tool, input, output } of tools.filter((_, at) => at % every === 0))
      for (const schema of [input, output]) {
        const compiled = schema === null ? null : compileSchema(schema);
        assert.ok(compiled === null || compiled.ok, `${tool}: ${compiled?.ok === false ? compiled.problem : ''}`);
      }
  });
