/** Describes what recourse.yaml may contain. Data only: the reader and the published JSON Schema are made from it. */
import { defaultLimits } from '../../core/limits.ts';
import { effectClasses } from '../../core/taxonomy.ts';
import { agentsShape, hostList, limitShape, reachText, sharedBudgetShape } from './agent-shape.ts';
import { egressHolds, errorMeanings } from '../config.ts';
import { duration, type Field, listOf, named, type Shape, text } from './shape.ts';
import { headersShape, httpShape, requestFields } from './http-shape.ts';
import { credentialsShape } from './credentials-shape.ts';
import { addedName, extensionsShape, kindUse } from './extension-shape.ts';
import { notifyShape, rolesShape, ticketsShape } from './section-shapes.ts';
import { modelsShape } from './models-shape.ts';
import { playbookShape, serverRecoveryFields, toolRecoveryFields } from './recovery-shape.ts';
import { workflowShape } from '../workflow/workflow-shape.ts';

const year = 366 * 86_400_000;
const month = 30 * 86_400_000;

export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const amount: Shape = { kind: 'count', says: 'an amount', least: 0, most: Number.MAX_SAFE_INTEGER };

const limitFields = Object.fromEntries(
  Object.entries(defaultLimits).map(([name, value]): [string, Field] => [
    snakeCase(name),
    {
      shape: Array.isArray(value)
        ? listOf('milliseconds', amount)
        : { ...amount, says: `${JSON.stringify(value)} if not given` },
    },
  ]),
);

const variables = named('variables of its environment', text('a value, or ${NAME}', { template: true }), [
  '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
  'the name of a variable',
]);

const connection: Shape = {
  kind: 'fields',
  says: 'how the server is reached: command starts it, url finds it',
  oneOf: ['command', 'url'],
  fields: {
    command: { shape: text('the program', { template: true }) },
    args: { shape: listOf('its arguments', text('an argument', { template: true })) },
    env: { shape: variables },
    cwd: { shape: text('the folder it runs in', { template: true }) },
    url: {
      shape: text('its address', {
        template: true,
        pattern: ['^https?://', 'an address that begins with http:// or https://'],
      }),
    },
    headers: { shape: headersShape },
  },
};

const onError = text(
  'what an error answer (isError) to a write proves: none, that nothing happened; unknown if not given',
  {
    oneOf: errorMeanings,
  },
);

const rule: Shape = {
  kind: 'fields',
  says: 'what is declared about a tool',
  fields: {
    effect: { shape: text('what a call does', { oneOf: Object.keys(effectClasses) }) },
    timeout: { shape: duration('how long a call may take') },
    dedupe_window: { shape: duration('for keyed: how long the server remembers our key', 1, year) },
    reports_within: {
      shape: duration(
        'for what answers at once and goes on working: by when it must have reported that it is done',
        1,
        month,
      ),
    },
    on_error: { shape: onError },
    reach: { shape: reachText('how far a call can reach; from its effect if not given') },
    validate: { shape: addedName('a validator of an extension, asked after the schema; it may replace the arguments') },
    ...requestFields,
    ...toolRecoveryFields,
  },
};

const serverEgress: Shape = {
  kind: 'fields',
  says: 'which hosts the process of an MCP server may reach',
  fields: {
    allow: hostList,
    hold: {
      shape: text('proxy: by its proxy variables, if not given; namespace: it has no other network', {
        oneOf: egressHolds,
      }),
    },
  },
};

const server: Shape = {
  kind: 'fields',
  says: 'a server whose tools are used',
  oneOf: ['mcp', 'http', 'extension'],
  fields: {
    mcp: { shape: connection },
    http: { shape: httpShape },
    extension: { shape: kindUse('a server of a kind that an extension adds') },
    timeout: { shape: duration('how long a call of any of its tools may take') },
    annotations: { shape: text('trust: readOnlyHint means that a tool only reads', { oneOf: ['ignore', 'trust'] }) },
    names: {
      shape: text('how its tools are called over MCP: server__tool, or bare, without the server', {
        oneOf: ['server', 'bare'],
      }),
    },
    on_error: { shape: onError },
    egress: { shape: serverEgress },
    ...serverRecoveryFields,
    tools: {
      shape: named('what is declared about its tools; * stands for anything, the first that fits counts', rule, [
        '^[^\\s\\u0000-\\u001f]{1,128}$',
        'the name of a tool, with * for anything',
      ]),
    },
  },
};

/** How many other files one may include. */
export const maxIncludes = 64;
/** Keys that an included file must not have. */
export const onlyInMainFile: readonly string[] = ['runtime', 'include'];

export const configShape: Shape = {
  kind: 'fields',
  says: 'the configuration of recourse',
  fields: {
    runtime: {
      shape: {
        kind: 'fields',
        says: 'how the gateway runs',
        fields: {
          store: { shape: text('the file of the store', { template: true }) },
          listen: {
            shape: text('where agents connect', {
              template: true,
              pattern: ['^(?:\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9.-]+):[0-9]{1,5}$', 'host:port, such as 127.0.0.1:7411'],
            }),
          },
          mode: {
            shape: text('enforce; audit lets pass, and records, what policy would refuse', {
              oneOf: ['enforce', 'audit'],
            }),
          },
          cold_start_grace: { shape: duration('how long a start may take; 5s if not given', 0, 3_600_000) },
          dns: {
            shape: listOf(
              "DNS servers that resolve names of hosts; the system's if not given",
              text('an address, with a port if wanted', {
                pattern: ['^(?:[0-9.]+|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?$', 'an address, such as 127.0.0.1:5353'],
              }),
              1,
              8,
            ),
          },
          limits: { shape: { kind: 'fields', says: 'limits by name', fields: limitFields } },
        },
      },
    },
    include: { shape: listOf('other files, from the folder of this one', text('a path'), 0, maxIncludes) },
    tools: { shape: named('the servers behind the gateway', server) },
    models: { shape: modelsShape },
    agents: { shape: agentsShape },
    limits: { shape: listOf('rate limits that all agents share', limitShape) },
    budgets: { shape: named('budgets that several agents share, by name', sharedBudgetShape) },
    roles: { shape: rolesShape },
    credentials: { shape: credentialsShape },
    notify: { shape: notifyShape },
    playbook: { shape: playbookShape },
    tickets: { shape: ticketsShape },
    extensions: { shape: extensionsShape },
    workflows: {
      shape: named('the workflows', {
        kind: 'either',
        says: 'the path of a module, or the workflow itself',
        text: text('the path of a module whose export is what mount() gave'),
        map: workflowShape,
      }),
    },
  },
};
