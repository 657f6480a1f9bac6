/**
 * LMTP (RFC 2033): the operator's mail server hands over mail. Each recipient gets an answer of its own, in
 * plain English, because a mail server writes it into the mail that tells the sender.
 */
import type { SMTPServer, SMTPServerDataStream } from 'smtp-server';
import type { Delivery, MailAnswer } from '../../ports/incoming-mail.ts';

/** A mail server on the same machine or network needs seconds. */
const IDLE_TIMEOUT_MS = 60_000;
/** A mail that arrives when the process stops has this long to be stored. */
const CLOSE_TIMEOUT_MS = 3_000;

const CODES: Readonly<Record<MailAnswer['outcome'], number>> = { accepted: 250, later: 451, refused: 550 };

export interface LmtpOptions {
  readonly host: string;
  readonly port: number;
  readonly sharedPort: boolean;
  /** How the server calls itself. */
  readonly name: string;
  readonly maxBytes: number;
  readonly maxConnections: number;
  readonly maxRecipients: number;
  readonly isRecipient: (address: string) => boolean;
  /** An answer for each recipient, in their order. Never rejects. */
  readonly receive: (delivery: Delivery) => Promise<readonly MailAnswer[]>;
  readonly onError: (error: Error) => void;
}

export interface LmtpListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects if it cannot listen. */
export async function listenForLmtp(options: LmtpOptions): Promise<LmtpListener> {
  const server = await createServer(options);
  const { host, port, sharedPort } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    const listening = server.listen({ host, port, reusePort: sharedPort });
    listening.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', options.onError);
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Loaded only where it is used, so that it doesn't delay commands. */
async function createServer(options: LmtpOptions): Promise<SMTPServer> {
  const { SMTPServer: Server } = await import('smtp-server');
  const { name, maxBytes, maxConnections, maxRecipients, isRecipient } = options;
  return new Server({
    ...{ lmtp: true, name, size: maxBytes, maxClients: maxConnections, maxRecipients, logger: false },
    ...{ socketTimeout: IDLE_TIMEOUT_MS, closeTimeout: CLOSE_TIMEOUT_MS },
    ...{ disableReverseLookup: true, authOptional: true },
    disabledCommands: ['AUTH', 'STARTTLS', 'HELP', 'VRFY', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
    onRcptTo({ address }, { envelope }, done) {
      const key = address.toLowerCase();
      if (!isRecipient(address)) return done(refusal(550, '5.1.1 There is no such address here.'));
      // The library would keep one of the two, and give one answer where two are expected.
      if (envelope.rcptTo.some((known) => known.address.toLowerCase() === key)) {
        return done(refusal(452, '4.5.3 The mail has this recipient already.'));
      }
      done();
    },
    onData(stream, { envelope }, done) {
      void deliver(stream, options, {
        sender: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
        recipients: envelope.rcptTo.map(({ address }) => address),
      }).then(
        (answers) => done(null, answers as never),
        () => done(refusal(451, '4.3.0 We could not store the mail. Try again later.')),
      );
    },
  });
}

/** Reads the mail, and returns what the library writes for each recipient. */
async function deliver(
  stream: SMTPServerDataStream,
  { maxBytes, receive }: LmtpOptions,
  envelope: Omit<Delivery, 'bytes'>,
): Promise<(string | Error)[]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    // The rest is read and dropped: the protocol has no earlier answer.
    if (size <= maxBytes) chunks.push(chunk);
  }
  if (size > maxBytes) {
    const text = `5.3.4 The mail is too large. Send at most ${Math.floor(maxBytes / 1024 ** 2)} MiB.`;
    return envelope.recipients.map(() => refusal(552, text));
  }
  const answers = await receive({ ...envelope, bytes: Buffer.concat(chunks) });
  return answers.map(({ outcome, status, text }) =>
    outcome === 'accepted' ? `${status} ${text}` : refusal(CODES[outcome], `${status} ${text}`),
  );
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
