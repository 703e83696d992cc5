/**
 * The classes of codes, and who acts next for each. The first eight names come from the original error model; three
 * are ours.
 */
import type { Entry } from './entry.ts';

export const classes = {
  Validation: {
    title: 'Configuration or contract is wrong',
    meaning: 'Something that is checked before work begins does not have the required shape or version.',
    agent: 'You cannot repair this; tell the person you work for.',
    operator: 'Correct the named place and start again; nothing runs until it is right.',
  },
  ProviderTransient: {
    title: 'Provider failed for the moment',
    meaning: 'A provider could not answer now, and the same request may well succeed later.',
    agent: 'Follow the resolution; safe retries have already been made for you.',
    operator: "Watch the provider's health; frequent ones deserve a longer schedule or another provider.",
  },
  ProviderCapability: {
    title: 'Provider cannot do this',
    meaning: 'The chosen provider or model lacks a feature that the call needs.',
    agent: 'Choose another model or do without the feature.',
    operator: 'Permit a model that has the feature.',
  },
  ToolTransient: {
    title: 'Tool failed for the moment',
    meaning: 'The tool was too slow or not available.',
    agent: 'Read the effect first; where it is none you may ask again later.',
    operator: "Check the tool's load, its time limit and its declared retry rules.",
  },
  ToolTerminal: {
    title: 'Tool failed for good',
    meaning: 'The same call would fail in the same way again.',
    agent: 'Change the call or choose another action; do not repeat it unchanged.',
    operator: 'Look at the tool if its answer surprises you.',
  },
  Session: {
    title: 'Session cannot go on as it is',
    meaning: 'The session is unknown, has drifted from what it was started with, or cannot be stored.',
    agent: 'Do what the resolution says; a new session may be needed.',
    operator: 'Check the store and whether a deployment changed the workflow under running sessions.',
  },
  Cancellation: {
    title: 'Stopped on request',
    meaning: 'Somebody asked for this work to stop; it is an orderly end and no defect.',
    agent: 'Stop this line of work; read the effect if the call was already running.',
    operator: 'Nothing, if the cancellation was wanted.',
  },
  ExtensionHost: {
    title: 'Extension could not be run',
    meaning: 'An extension or a launched provider did not start, stop or find what it depends on.',
    agent: 'Use another tool; this one needs a person.',
    operator: 'Read the log of the extension and correct its installation or dependencies.',
  },
  Workflow: {
    title: 'Not now, in this workflow',
    meaning: "The session's state, order or fences do not allow the request at this moment.",
    agent: 'Pick one of valid_next_actions.',
    operator: 'Nothing, unless agents meet it often; then look at the workflow or its descriptions.',
  },
  Governance: {
    title: 'Not permitted, or not yet',
    meaning: 'A rule, limit, budget, approval or credential stands between the agent and the tool.',
    agent: 'Do what the resolution says and do not try to get around it.',
    operator: 'The reply names the rule or the limit; change it if it is wrong.',
  },
  Internal: {
    title: 'Defect of the gateway',
    meaning: 'The gateway met something that its own rules exclude.',
    agent: 'Read the effect, and choose another action or tell a person.',
    operator: 'Search the log for the correlation id and report the defect.',
  },
} as const satisfies Record<string, Entry>;

export type ErrorClass = keyof typeof classes;
