/**
 * Shapes of the sections roles, notify and extensions. Data only. warn-unenforced.ts lists what is not
 * used yet.
 */
import { codes } from '../../core/taxonomy.ts';
import { notifyFormats } from '../config.ts';
import { listOf, named, type Shape, text } from './shape.ts';

const person = text('a person, as their key names them', {
  pattern: ['^[^\\u0000-\\u0020\\u007f]{1,128}$', 'a name without spaces, at most 128 characters'],
});

export const rolesShape: Shape = named('people by role', listOf('the people who have it', person, 1));

const governanceCodes = Object.entries(codes).flatMap(([code, entry]) => (entry.class === 'Governance' ? [code] : []));
const toldEvents = [...governanceCodes, 'ticket_opened'];

export const notifyShape: Shape = named('who is told when something happens', {
  kind: 'fields',
  says: 'an address, and what it is told',
  fields: {
    webhook: {
      shape: text('the address that is posted to', {
        template: true,
        pattern: ['^https?://[^\\s]+$', 'an address that begins with http:// or https://'],
      }),
      required: true,
    },
    events: {
      shape: listOf(
        'the codes that it is told about',
        text('a code of a denial, or ticket_opened', { oneOf: toldEvents }),
        1,
      ),
      required: true,
    },
    secret: {
      shape: text('what its messages are signed with: ${NAME}', {
        template: true,
        pattern: ['^[^\\u0000-\\u001f\\u007f]{16,1024}$', 'one line of 16 to 1024 characters'],
      }),
    },
    format: { shape: text('json if not given; slack for an incoming webhook of Slack', { oneOf: notifyFormats }) },
    link: {
      shape: text('where a person finds the approval; {approval_id} stands for its id', {
        template: true,
        pattern: ['^https?://[^\\s]{1,2000}$', 'an address that begins with http:// or https://'],
      }),
    },
  },
});

export const extensionsShape: Shape = named('modules by name', text('the path of a module'));
