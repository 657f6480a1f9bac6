/** The operations on talks with customers. */
import { EVERYONE, manage, read } from './roles.ts';

/** Everyone who works with customers or their servers. */
const DESK = EVERYONE.filter((role) => role !== 'read_only');

export const DESK_OPERATIONS = {
  'tickets.list': read('tickets list', 'List tickets'),
  'tickets.get': read('tickets show', 'Show a ticket with its notes'),
  'tickets.get_file': read('tickets file', 'Download a file of a ticket'),
  'tickets.reply': manage('tickets reply', 'Answer a ticket', DESK),
  'tickets.note': manage('tickets note', 'Add a note that only staff see', DESK),
  'tickets.assign': manage('tickets assign', 'Assign a ticket to a person', DESK),
  'tickets.close': manage('tickets close', 'Close a ticket', DESK),
  'tickets.reopen': manage('tickets reopen', 'Open a ticket again', DESK),
  'canned_answers.list': read('canned-answers list', 'List canned answers'),
  'canned_answers.get': read('canned-answers show', 'Show a canned answer'),
  'canned_answers.set': manage('canned-answers set', 'Add or replace a canned answer', DESK),
  'canned_answers.delete': manage('canned-answers delete', 'Delete a canned answer', DESK),
} as const;
