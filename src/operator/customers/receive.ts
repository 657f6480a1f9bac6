/**
 * `tickets receive`: one mail from standard input, for a mail server without LMTP. The exit codes are those
 * of sysexits.h, which mail servers know. A failure of ours is temporary: the mail must not be lost.
 */
import { stdin } from 'node:process';
import type { Command } from 'commander';
import { readRecipient } from '../../domain/customers/tickets/mail/address.ts';
import { receiveTicketMail } from '../../domain/customers/tickets/mail/receive.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { MailAnswer } from '../../ports/incoming-mail.ts';
import { LIMITS } from '../../spec/limits.ts';
import { type OperatorContext, ProblemsFound } from '../context.ts';

const EXIT = { badMail: 65, noUser: 67, later: 75, notAllowed: 77 } as const;

interface Envelope {
  readonly recipient: string;
  readonly sender: string;
}

export function addReceive(tickets: Command, { resources, terminal }: OperatorContext): void {
  tickets
    .command('receive')
    .requiredOption('--recipient <address>', 'Recipient of the envelope')
    .requiredOption('--sender <address>', 'Sender of the envelope, empty for a bounce')
    .description('Add a mail from standard input to its ticket, for the pipe of a mail server')
    .action(async (envelope: Envelope) => {
      const { outcome, status, text } = await receive(resources, envelope);
      if (outcome === 'accepted') return terminal.out(text);
      // Postfix reads the status at the start of the output.
      terminal.err(`${status} ${text}`);
      throw new ProblemsFound(exitCode({ outcome, status }));
    });
}

function exitCode({ outcome, status }: Pick<MailAnswer, 'outcome' | 'status'>): number {
  if (outcome === 'later') return EXIT.later;
  if (status.startsWith('5.1.')) return EXIT.noUser;
  return status === '5.7.1' ? EXIT.notAllowed : EXIT.badMail;
}

async function receive(
  resources: OperatorContext['resources'],
  { recipient, sender }: Envelope,
): Promise<MailAnswer> {
  try {
    const { service, mailParser } = await resources.service();
    const bytes = await readInput();
    if (!service.settings.ticketMail || !mailParser)
      throw new OperatorError('SKERRY_TICKET_ADDRESS is unset');
    if (readRecipient(service, recipient) === undefined) {
      return { outcome: 'refused', status: '5.1.1', text: 'There is no such address here.' };
    }
    const [answer] = await receiveTicketMail(service, mailParser, { bytes, sender, recipients: [recipient] });
    if (!answer) throw new Error('no answer');
    return answer;
  } catch (error) {
    const text = error instanceof OperatorError ? error.message : 'the mail could not be stored';
    return { outcome: 'later', status: '4.3.0', text };
  }
}

/** One byte more than a mail may have shows that it is too large. */
async function readInput(): Promise<Buffer> {
  const max = LIMITS.ticketMailMaxBytes + 1;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    // The rest is read and dropped: a mail server may fail on a pipe that closes early.
    if (size < max) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).subarray(0, max);
}
