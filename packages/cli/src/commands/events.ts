import { type EventType, isApiError, type StreamedEvent, type StreamOptions } from '@skerry/sdk';
import { type Context, command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { omitUndefined } from '../lists.ts';
import { integer, type Option } from '../options.ts';
import { type Column, formatTime } from '../output/format.ts';

/** Lines are printed one at a time and not aligned later, so columns of varying length have a set width. */
const COLUMNS: readonly Column<StreamedEvent>[] = [
  { name: 'seq', value: (event) => event.seq, width: 5 },
  { name: 'created_at', value: (event) => formatTime(event.created_at) },
  { name: 'type', value: (event) => event.type, width: 19 },
  { name: 'about', value: subjectOf },
  { name: 'id', value: (event) => event.id, hidden: true },
];

/** Exhaustive: a missing type is a compile error. */
const KNOWN_TYPES: Readonly<Record<EventType, true>> = {
  'server.created': true,
  'server.running': true,
  'server.stopped': true,
  'server.rebooted': true,
  'server.rebuilt': true,
  'server.resized': true,
  'server.iso_inserted': true,
  'server.iso_ejected': true,
  'server.suspended': true,
  'server.destroyed': true,
  'snapshot.ready': true,
  'snapshot.failed': true,
  'backup.failed': true,
  'volume.attached': true,
  'volume.detached': true,
  'topup.pending': true,
  'topup.confirmed': true,
  'topup.expired': true,
  'topup.reversed': true,
  'server.lost': true,
  'volume.lost': true,
  'billing.charged': true,
  'billing.low_balance': true,
  'token.created': true,
  'token.updated': true,
  'token.revoked': true,
  'firewall.applied': true,
  'action.success': true,
  'action.error': true,
  'alert.fired': true,
  'alert.resolved': true,
  ping: true,
};
/**
 * The types that a user can name, to tell a typo from an event that has not occurred yet. A ping is sent only
 * to its webhook.
 */
const TYPES = Object.keys(KNOWN_TYPES).filter((type) => type !== 'ping');
const FAMILIES = [...new Set(TYPES.map(familyOf))];

/** `--type server.running` or `--type server`: one type, or all types with this first word. */
function eventTypeOption(about: string): Option<((type: string) => boolean) | undefined> {
  return {
    value: 'type',
    about,
    repeatable: true,
    parse: (texts, name) => {
      if (texts === undefined) return undefined;
      const wanted = texts.flatMap((text) => text.split(',')).map((text) => text.replace(/\.\*$/, ''));
      const unknown = wanted.find((word) => !TYPES.includes(word) && !FAMILIES.includes(word));
      if (unknown !== undefined) {
        const known = [...FAMILIES, ...TYPES].join(', ');
        throw new Failure('usage', `${name}: unknown event type "${unknown}"; available: ${known}`);
      }
      return (type) => wanted.includes(type) || wanted.includes(familyOf(type));
    },
  };
}

function familyOf(type: string): string {
  return type.split('.')[0] ?? type;
}

export const events = command({
  name: 'events',
  about: 'Follow the events of the account until Ctrl-C (beta)',
  help:
    'Prints a line per event: its number, time, type, and the name and ID of the resource.\n' +
    'With -o json, each line is an event: `skerry events -o json --type server | jq -c .data.server`.\n' +
    'Without scope billing, billing events are omitted, so there are gaps in the numbers.',
  operations: ['events.stream'],
  options: {
    after: integer(
      'seq',
      'Start after the event with this number; 0 is the oldest stored event (default: new events)',
      {
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
      },
    ),
    type: eventTypeOption('Filter by type, such as server.running, or server for every server event'),
  },
  columns: COLUMNS,
  example: 'skerry events --after 0 --type server -o json',
  run: async (context, { after, type }) => {
    const { output, terminal, signal } = context;
    try {
      for await (const event of follow(context, after, type !== undefined)) {
        if (type === undefined || type(event.type)) output.showNext(event, COLUMNS);
      }
    } catch (error) {
      // Interruption is the normal way to stop; print nothing.
      throw signal.aborted ? new Failure('interrupted', '') : error;
    } finally {
      terminal.progress('');
    }
  },
});

/** Opens the stream. With `--after 0`, starts at the oldest event that the service still has. */
async function* follow(
  { skerry, terminal, signal }: Context,
  after: number | undefined,
  isFiltered: boolean,
): AsyncGenerator<StreamedEvent, void> {
  const options: StreamOptions = {
    signal,
    // The filter may name types that are sent only on request.
    ...(isFiltered ? { types: ['*'] } : {}),
    onOpen: () => terminal.progress('Waiting for events. Press Ctrl-C to stop.'),
    onBreak: ({ message }) => terminal.note(`${message} Reconnecting; no events are skipped.`),
  };
  let position = after;
  for (;;) {
    try {
      return yield* skerry.events.stream({ ...options, ...omitUndefined({ after: position }) });
    } catch (error) {
      const minAfter = isApiError(error) ? error.item('after')?.min : undefined;
      // Skip ahead only for 0. After any other number the user expects no gap, so report the error.
      if (after !== 0 || minAfter === undefined || minAfter === position) throw error;
      terminal.note(`Events up to ${minAfter} are no longer stored.`);
      position = minAfter;
    }
  }
}

/** `web-1/srv_…`, or the ID alone if there is no name. */
function subjectOf({ data }: StreamedEvent): string | null {
  const subject = Object.values(data)[0] as { readonly id?: string; readonly name?: string } | undefined;
  return [subject?.name, subject?.id].filter(Boolean).join('/') || null;
}
