/** A real SMTP server on this machine, with faults that a test can set. */
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

type Stage = 'connect' | 'login' | 'sender' | 'receiver' | 'text';
/** A reply by its code, no reply (silence), or a closed connection. */
export type Fault = number | 'silence' | 'hang up';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | null;
  /** The addresses needed SMTPUTF8 (characters outside ASCII), which many servers do not support. */
  readonly smtpUtf8: boolean;
  readonly secure: boolean;
  /** As received, with CRLF line endings. */
  readonly message: string;
}

export interface MailServer {
  readonly port: number;
  readonly received: ReceivedMail[];
  /** Faults by stage, effective immediately. A fault of `text` takes effect after the server has the mail. */
  readonly faults: Partial<Record<Stage, Fault>>;
  close(): Promise<void>;
}

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const faults: MailServer['faults'] = {};
  const reply = (stage: Stage, session: { id: string }, done: (error?: Error | null) => void): void => {
    const fault = faults[stage];
    if (fault === undefined) done();
    else if (fault === 'hang up') hangUp(session.id);
    else if (fault !== 'silence') done(Object.assign(new Error('scripted fault'), { responseCode: fault }));
  };
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: options.key === undefined ? ['STARTTLS'] : [],
    logger: false,
    onConnect: (session, done) => reply('connect', session, done),
    onAuth: (auth, session, done) => {
      reply('login', session, (error) => (error ? done(error) : done(null, { user: auth.username })));
    },
    onMailFrom: (_address, session, done) => reply('sender', session, done),
    onRcptTo: (_address, session, done) => reply('receiver', session, done),
    onData: (stream, session, done) => {
      void text(stream).then((message) => {
        const { mailFrom, rcptTo } = session.envelope;
        const args = mailFrom ? mailFrom.args : false;
        if (typeof faults.text !== 'number') {
          received.push({
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map(({ address }) => address),
            user: session.user ?? null,
            smtpUtf8: args !== false && 'SMTPUTF8' in args,
            secure: session.secure,
            message,
          });
        }
        reply('text', session, done);
      }, done);
    },
    ...options,
  });
  const hangUp = (id: string): void => {
    for (const connection of server.connections) {
      const { session, _socket: socket } = connection as unknown as {
        session: { id: string };
        _socket: { destroy(): void };
      };
      if (session.id === id) socket.destroy();
    }
  };
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await new Promise((resolve) => listening.once('listening', resolve));
  return {
    port: (listening.address() as AddressInfo).port,
    received,
    faults,
    close: async () => {
      for (const { _socket: socket } of server.connections as unknown as Set<{
        _socket: { destroy(): void };
      }>) {
        socket.destroy();
      }
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
