/** The extension that has Vault and OpenBao as a source of secrets: the kind `vault`, which stands in recourse.yaml. */
import { defineExtension } from '../../extension/index.ts';
import { createVaultProvider, type VaultSettings } from './vault-provider.ts';

const text = { type: 'string', minLength: 1 };

export const vault = defineExtension({
  name: 'vault',
  contract: 1,
  credentials: {
    vault: {
      settings: {
        type: 'object',
        properties: {
          address: text,
          path: text,
          field: text,
          namespace: text,
          token: { ...text, writeOnly: true },
          role_id: text,
          secret_id: { ...text, writeOnly: true },
        },
        required: ['address', 'path', 'field'],
        oneOf: [{ required: ['token'] }, { required: ['role_id', 'secret_id'] }],
        additionalProperties: false,
      },
      create: (settings, host) => createVaultProvider(settings as unknown as VaultSettings, host),
    },
  },
});
