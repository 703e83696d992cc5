import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { doorProblem, type DoorCode, doorProblems } from './door-problems.ts';
import { requestBodies } from './http-bodies.ts';
import { httpRoutes, type HttpRoute, routeNames } from './http-routes.ts';
import { responseName } from './openapi.ts';
import { openapiDocument } from './openapi-paths.ts';
import { compileSchema } from '../schema/compile-schema.ts';

const document = JSON.parse(JSON.stringify(openapiDocument())) as ReturnType<typeof openapiDocument>;

describe('the OpenAPI document', () => {
  test('has an operation for every route, and no other', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, { operationId: string }>).map(
        ([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`,
      ),
    );
    const routes = routeNames.map((name) => `${httpRoutes[name].method} ${httpRoutes[name].path} ${name}`);
    assert.deepEqual(operations.sort(), [...routes].sort());
  });

  test('refers only to what it has', () => {
    const text = JSON.stringify(document);
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      const there = document.components[kind as 'schemas' | 'responses'];
      assert.ok(there !== undefined && name in there, `${kind}/${name}`);
    }
  });

  test('asks for a key wherever the table does', () => {
    for (const name of routeNames) {
      const { path, method, needs, errors }: HttpRoute = httpRoutes[name];
      const { security } =
        (document.paths[path] as Record<string, { security: unknown[] }>)[method.toLowerCase()] ?? {};
      assert.equal(security?.length, needs === null ? 0 : errors === undefined ? 1 : 2, name);
    }
  });

  test('describes every problem of the door under its status, and under no other', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'urn:recourse:openapi', ...document });
    for (const code of Object.keys(doorProblems) as DoorCode[])
      for (const status of new Set(Object.values(doorProblems).map((each) => each.status))) {
        const at = `urn:recourse:openapi#/components/responses/${responseName(status)}`;
        const check = ajv.compile({ $ref: `${at}/content/application~1problem+json/schema` });
        assert.equal(check(doorProblem(code, 'why')), status === doorProblems[code].status, `${code} ${status}`);
      }
  });

  test('has schemas of requests by which the door can check', () => {
    for (const [name, schema] of Object.entries(requestBodies)) assert.ok(compileSchema(schema).ok, name);
  });
});
