import { isApiError, type StreamedEvent, type StreamOptions } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { omitUndefined } from '../../lists.ts';
import { integer } from '../../options.ts';
import { type Column, formatTime } from '../../output/columns.ts';
import { onReaderGone } from '../../terminal/stdout-reader.ts';
import { eventTypeOption } from './event-types.ts';

/** Events do not wait for each other: their lines are as wide as most of them need. */
const COLUMNS: readonly Column<StreamedEvent>[] = [
  { name: 'seq', value: (event) => event.seq, width: 5 },
  { name: 'created_at', value: (event) => formatTime(event.created_at) },
  { name: 'type', value: (event) => event.type, width: 19 },
  { name: 'about', value: subjectOf },
  { name: 'id', value: (event) => event.id, hidden: true },
];

const events = command({
  name: 'events',
  about: 'Follow what happens in the account, event by event, until Ctrl-C (beta)',
  help:
    'A line for each event: its number, when, its type, and the name and id of what it is about.\n' +
    'With -o json each line is an event of the API: `skerry events -o json --type server | jq -c .data.server`.\n' +
    'Without scope billing it does not tell of money, and its numbers have holes.',
  operations: ['events.stream'],
  options: {
    after: integer(
      'seq',
      'Begin after the event with this number; 0: with the oldest that is kept. From now on when left out.',
      {
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
      },
    ),
    type: eventTypeOption('Only these: server.running, say, or server for all of its kind.'),
  },
  columns: COLUMNS,
  example: 'skerry events --after 0 --type server -o json',
  run: async (context, { after, type }) => {
    const { output, terminal, signal } = context;
    const readerGone = new AbortController();
    const stopWatching = onReaderGone(() => readerGone.abort());
    const ended = AbortSignal.any([signal, readerGone.signal]);
    try {
      for await (const event of follow(context, ended, after)) {
        if (type === undefined || type(event.type)) output.showNext(event, COLUMNS);
      }
    } catch (error) {
      // It has no other end: there is nothing to say about it.
      if (signal.aborted) throw new Failure('interrupted', '');
      if (!readerGone.signal.aborted) throw error;
    } finally {
      stopWatching();
      terminal.progress('');
    }
  },
});

/** The stream. Of the whole account it begins where the service can still begin. */
async function* follow(
  { skerry, terminal }: Pick<Context, 'skerry' | 'terminal'>,
  signal: AbortSignal,
  after: number | undefined,
): AsyncGenerator<StreamedEvent, void> {
  const options: StreamOptions = {
    signal,
    onOpen: () => terminal.progress('Waiting for events; Ctrl-C ends it.'),
    onBreak: ({ message }) => terminal.note(`${message} It is taken up again where it broke.`),
  };
  let position = after;
  for (;;) {
    try {
      return yield* skerry.events.stream({ ...options, ...omitUndefined({ after: position }) });
    } catch (error) {
      const oldest = isApiError(error) ? error.item('after')?.min : undefined;
      // Only what was asked for by 0: a number that was noted means that something was missed.
      if (after !== 0 || oldest === undefined || oldest === position) throw error;
      terminal.note(`Events up to ${oldest} are no longer kept.`);
      position = oldest;
    }
  }
}

/** `web-1/srv_…`; the id alone where it has no name. */
function subjectOf({ data }: StreamedEvent): string | null {
  const subject = Object.values(data)[0] as { readonly id?: string; readonly name?: string } | undefined;
  return [subject?.name, subject?.id].filter(Boolean).join('/') || null;
}

export const EVENTS_COMMANDS: readonly Command[] = [events];
