/** Shapes of the section extensions, and of the uses of what extensions add. Data only. */
import { type Field, named, type Shape, text } from './shape.ts';

const kindName = ['^[A-Za-z0-9_-]{1,64}$', '1 to 64 letters, digits, _ or -'] as const;
const settings = (says: string): Field => ({ shape: { kind: 'json', says, sort: 'map', template: true } });
const modulePath = 'the path of a module, from the folder of this file, or the name of a package';

export const extensionsShape: Shape = named('extensions by name', {
  kind: 'either',
  says: 'a module that exports an extension',
  text: text(modulePath),
  map: {
    kind: 'fields',
    says: 'an extension with its settings',
    fields: {
      module: { shape: text(modulePath), required: true },
      settings: settings('its settings; ${NAME} in a text is replaced'),
    },
  },
});

/** In place of what the gateway has itself. */
export const kindUse = (says: string): Shape => ({
  kind: 'fields',
  says,
  fields: {
    kind: { shape: text('the name under which an extension adds it', { pattern: kindName }), required: true },
    settings: settings('its settings, as the extension describes them; ${NAME} in a text is replaced'),
  },
});

export const addedName = (says: string): Shape => text(says, { pattern: kindName });
