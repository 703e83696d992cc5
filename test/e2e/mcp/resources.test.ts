import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { connectHttp, connectInMemory, type ConnectedClient, revisions, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee, secret } from '../../support/mcp-workflows.ts';

async function read({ client }: ConnectedClient, uri: string) {
  const { contents } = await client.readResource({ uri });
  const [content] = contents as { text: string; mimeType: string; uri: string }[];
  assert.ok(content !== undefined && contents.length === 1);
  assert.equal(content.uri, uri);
  return content;
}

const readJson = async (client: ConnectedClient, uri: string) => {
  const { text, mimeType } = await read(client, uri);
  assert.equal(mimeType, 'application/json');
  return JSON.parse(text);
};

const open = async (t: TestContext, revision: (typeof revisions)[number]) =>
  connectInMemory(t, (await openDoor(t, { workflow: coffee })).door, revision);

for (const revision of revisions) {
  test(`[S000-recovery-4] what is next can be read before the first step, and follows it, in ${revision}`, async (t) => {
    const client = await open(t, revision);
    const before = await readJson(client, 'recourse://next');
    assert.deepEqual(before.valid_next_actions, ['take_order']);
    assert.deepEqual(Object.keys(before.next_action_schemas), ['take_order']);
    const { reply } = await client.step({ action: 'take_order', inputs: { drink: 'latte' } });
    assert.equal(reply.session, before.session, 'reading and stepping are of one session');
    const after = await readJson(client, 'recourse://next');
    assert.deepEqual(after.valid_next_actions, ['add_modifier', 'pay', 'cancel']);
  });

  test(`state, session and graph say where the session stands, in ${revision}`, async (t) => {
    const client = await open(t, revision);
    const { reply } = await client.step({ action: 'take_order', inputs: { drink: 'latte' } });
    const state = await readJson(client, 'recourse://state');
    assert.deepEqual(state.state, 'state' in reply && reply.state);
    const session = await readJson(client, `recourse://session/${reply.session}`);
    assert.equal(session.session, reply.session);
    assert.equal(session.status, 'open');
    const graph = await readJson(client, 'recourse://graph');
    assert.deepEqual(graph.active, ['ordering']);
    const drawing = await read(client, 'recourse://graph.mmd');
    assert.equal(drawing.mimeType, 'text/vnd.mermaid');
    assert.match(drawing.text, /stateDiagram/);
  });

  test(`a drawing shows no action that is not listed to the agent, in ${revision}`, async (t) => {
    const isListed = ({ name }: { readonly name: string }, who: { readonly agent: string }) =>
      name !== 'cancel' || who.agent !== 'tester';
    const client = await connectInMemory(t, (await openDoor(t, { workflow: coffee, isListed })).door, revision);
    const graph = await readJson(client, 'recourse://graph');
    assert.deepEqual(
      graph.edges.map(({ action }: { action: string }) => action),
      ['take_order', 'add_modifier', 'pay', 'fulfill'],
    );
    const { text } = await read(client, 'recourse://graph.mmd');
    assert.match(text, /: pay/);
    assert.doesNotMatch(text, /: cancel$/m);
  });

  test(`[S000-recovery-5] the history has every attempt, refusals included, and can be read on, in ${revision}`, async (t) => {
    const client = await open(t, revision);
    await client.step({ action: 'pay' });
    await client.step({ action: 'take_order', inputs: { drink: 'latte' } });
    const history = await readJson(client, 'recourse://history');
    const attempts = history.entries.filter(({ kind }: { kind: string }) => kind === 'attempt');
    assert.deepEqual(
      attempts.map(({ action, outcome }: { action: string; outcome: string }) => [action, outcome]),
      [
        ['pay', 'invalid_transition'],
        ['take_order', 'succeeded'],
      ],
    );
    const from = attempts[0].entry;
    const rest = await readJson(client, `recourse://history/${history.session}?after=${from}`);
    assert.ok(rest.entries.every(({ entry }: { entry: number }) => entry > from));
    assert.equal(rest.entries.at(-1).action, 'take_order');
  });

  test(`an unknown session is a typed error, an unknown address one of the protocol, in ${revision}`, async (t) => {
    const client = await open(t, revision);
    for (const what of ['next', 'state', 'session', 'history', 'graph']) {
      const reply = await readJson(client, `recourse://${what}/ses_nobody`);
      assert.equal(reply.error, 'session_error', what);
      assert.equal(reply.code, 'UnknownSession');
    }
    for (const uri of [
      'recourse://nothing',
      'recourse://next/%',
      'file:///etc/passwd',
      'recourse://history?after=x',
      '',
    ])
      await assert.rejects(client.client.readResource({ uri }), { code: -32_602 }, uri);
  });

  test(`the list of resources does not depend on the session, in ${revision}`, async (t) => {
    const client = await open(t, revision);
    const names = ['next', 'state', 'session', 'history', 'graph', 'graph.mmd'];
    const { resources } = await client.client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      names.map((name) => `recourse://${name}`),
    );
    const { resourceTemplates } = await client.client.listResourceTemplates();
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate.replace('{?after}', '')),
      names.map((name) => `recourse://${name}/{session}`),
    );
  });
}

test('without connections a session must be named to be read, and reading opens none', async (t) => {
  const { door, service } = await openDoor(t, { workflow: coffee });
  const { url } = await serveHttp(t, door);
  const client = await connectHttp(t, url, '2026-07-28');
  for (const what of ['next', 'state', 'session', 'history']) {
    const reply = await readJson(client, `recourse://${what}`);
    assert.equal(reply.error, 'validation_failed');
    assert.match(reply.message, /\{session\}/);
  }
  assert.match((await read(client, 'recourse://graph.mmd')).text, /stateDiagram/);
  const { reply } = await client.step({ action: 'take_order', inputs: { drink: 'latte' } });
  const next = await readJson(client, `recourse://next/${reply.session}`);
  assert.equal(next.session, reply.session);
  assert.equal(service.workflows.size, 1);
});

test('a state that the author hides is in no resource and in no drawing', async (t) => {
  const client = await connectInMemory(t, (await openDoor(t, { workflow: secret })).door, '2025-11-25');
  await client.step({ action: 'first' });
  assert.equal((await readJson(client, 'recourse://state')).state, null);
  assert.deepEqual((await readJson(client, 'recourse://graph')).active, []);
});
