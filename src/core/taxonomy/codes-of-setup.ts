/**
 * Codes for configuration, provider capabilities or extensions that do not fit. Most stop the process at start; a
 * call carries one in `action_error`: those of a capability come from gate 8, or from the provider.
 */
import type { CodeEntry } from './code-entry.ts';

export const codesOfSetup = {
  ShapeInvalid: {
    title: 'Wrong shape',
    meaning: 'Something that was handed to the gateway does not have the required shape.',
    agent: 'You cannot repair this; tell the person you work for.',
    operator: 'Correct the file and line that the message names.',
    class: 'Validation',
    http: 502,
    resolutions: ['escalated'],
  },
  ContractVersionMismatch: {
    title: 'Versions do not fit',
    meaning: 'A part speaks another version of the contract than the gateway does.',
    agent: 'You cannot repair this; tell the person you work for.',
    operator: 'Bring the named part and the gateway to fitting versions.',
    class: 'Validation',
    http: 502,
    resolutions: ['escalated'],
  },
  ConfigSchemaViolation: {
    title: 'Configuration is not valid',
    meaning: 'The configuration breaks its schema, so the process does not start.',
    agent: 'You cannot repair this; tell the person you work for.',
    operator: 'Correct the file and line that the message names.',
    class: 'Validation',
    http: 502,
    resolutions: ['escalated'],
  },
  MissingStreaming: {
    title: 'Model cannot stream',
    meaning: 'The call asks for a stream, and the model does not offer one.',
    agent: 'Ask without streaming, or choose another model.',
    operator: 'Permit a model that can stream.',
    class: 'ProviderCapability',
    http: 422,
    resolutions: ['replan'],
  },
  MissingToolCalling: {
    title: 'Model cannot call tools',
    meaning: 'The call brings tools, and the model cannot use any.',
    agent: 'Choose another model, or ask without tools.',
    operator: 'Permit a model that can call tools.',
    class: 'ProviderCapability',
    http: 422,
    resolutions: ['replan'],
  },
  ContextWindowTooSmall: {
    title: 'Too much for the model',
    meaning: 'The call is longer than what the model can take in.',
    agent: 'Shorten it, or choose a model with a larger window.',
    operator: 'Permit a model with a larger window.',
    class: 'ProviderCapability',
    http: 422,
    resolutions: ['replan'],
  },
  LifecycleFailure: {
    title: 'Extension did not start or stop',
    meaning: 'An extension threw or took too long when it was started or stopped.',
    agent: 'Use another tool, or ask again later.',
    operator: 'Read the message, which names it; `recourse status` shows its state.',
    class: 'ExtensionHost',
    http: 502,
    resolutions: ['escalated', 'retry_after'],
  },
  DependencyCycle: {
    title: 'Dependencies form a circle',
    meaning: 'Extensions depend on each other in a circle, so none can start first.',
    agent: 'You cannot repair this; tell the person you work for.',
    operator: 'Break the circle that the message names.',
    class: 'ExtensionHost',
    http: 502,
    resolutions: ['escalated'],
  },
  DependencyMissing: {
    title: 'A dependency is missing',
    meaning: 'An extension needs another one that is not installed.',
    agent: 'You cannot repair this; tell the person you work for.',
    operator: 'Install what the message names.',
    class: 'ExtensionHost',
    http: 502,
    resolutions: ['escalated'],
  },
} as const satisfies Record<string, CodeEntry>;
