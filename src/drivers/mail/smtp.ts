/**
 * Mail over SMTP, one connection for each. The message is a stream that the library reads only after the server has said
 * that it takes the text (354): there it is handed over, and before that every failure is a sure one. Afterwards only an
 * answer of the server tells; a connection that breaks or stays silent leaves the outcome unknown.
 */
import { Readable } from 'node:stream';
import { domainToASCII } from 'node:url';
import type SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { Sender, SmtpServer } from '../../kernel/smtp-url.ts';
import type { Mailer, MailOutcome, OutgoingMail } from '../../ports/mail.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 10_000;
/** A server may look through a mail before it answers. */
const IDLE_TIMEOUT_MS = 30_000;

interface SmtpOptions {
  readonly server: SmtpServer;
  readonly from: Sender;
  /** Certificates to trust besides those that the system does. */
  readonly ca?: string;
  readonly idleTimeoutMs?: number;
}

/** What the library hangs on its errors. */
interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/** The lease was lost before the text was given away. */
class LeaseLost extends Error {}

export class SmtpMailer implements Mailer {
  readonly #options: SmtpOptions;
  readonly #openConnections = new Set<SmtpConnection>();

  constructor(options: SmtpOptions) {
    this.#options = options;
  }

  async send(mail: OutgoingMail, handOver: () => Promise<boolean>): Promise<MailOutcome> {
    const handover = { over: false };
    try {
      await this.#deliver(mail, async () => {
        if (!(await handOver())) throw new LeaseLost();
        handover.over = true;
      });
      return { outcome: 'sent' };
    } catch (error) {
      return error instanceof LeaseLost
        ? { outcome: 'taken' }
        : failureOutcome(error as SmtpError, handover.over);
    }
  }

  close(): void {
    for (const connection of this.#openConnections) connection.close();
  }

  async #deliver(mail: OutgoingMail, handOver: () => Promise<void>): Promise<void> {
    const { from, server } = this.#options;
    // Not loaded before the first mail: a start should not wait for it.
    const { messageBytes } = await import('./message.ts');
    const bytes = await messageBytes(mail, from, new Date());
    const connection = await this.#createConnection();
    this.#openConnections.add(connection);
    const broken = new Promise<never>((_resolve, reject) => {
      connection.on('error', reject);
      connection.once('end', () => reject(Object.assign(new Error('closed'), { code: 'ECONNECTION' })));
    });
    broken.catch(() => undefined);
    try {
      await Promise.race([broken, promisifyStep((done) => connection.connect(done))]);
      if (server.login !== null) {
        const { user, password: pass } = server.login;
        await Promise.race([
          broken,
          promisifyStep((done) => connection.login({ credentials: { user, pass } }, done)),
        ]);
      }
      const text = Readable.from(streamAfterHandOver(bytes, handOver), { objectMode: false });
      const envelope = { from: from.address, to: [toWireAddress(mail.to)], size: bytes.length };
      await Promise.race([broken, promisifyStep((done) => connection.send(envelope, text, done))]);
      connection.quit();
    } finally {
      this.#openConnections.delete(connection);
      connection.close();
    }
  }

  async #createConnection(): Promise<SmtpConnection> {
    const { default: Connection } = await import('nodemailer/lib/smtp-connection');
    const { server, from, ca, idleTimeoutMs = IDLE_TIMEOUT_MS } = this.#options;
    return new Connection({
      host: server.host,
      port: server.port,
      secure: server.secure,
      // Encrypted or not at all, but for a server on this machine, whose certificate nobody would trust.
      requireTLS: !server.secure && !server.loopback,
      ignoreTLS: !server.secure && server.loopback,
      // Not our machine's name, which is nobody's business.
      name: from.domain,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: Math.min(GREETING_TIMEOUT_MS, idleTimeoutMs),
      socketTimeout: idleTimeoutMs,
      tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
    });
  }
}

async function* streamAfterHandOver(bytes: Buffer, handOver: () => Promise<void>): AsyncGenerator<Buffer> {
  await handOver();
  yield bytes;
}

/** A domain of other letters in the form that every server takes; the part before it has none, and asks for SMTPUTF8. */
function toWireAddress(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1));
  return domain === '' ? address : `${address.slice(0, at)}@${domain}`;
}

function promisifyStep(start: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}

/**
 * Before the receiver was named, the failure is the server's or our settings' and says nothing about the mail: even a 5xx
 * there, a wrong password say, must not cost the customer a mail.
 */
function failureOutcome(error: SmtpError, handedOver: boolean): MailOutcome {
  const { code = 'error', command = '', responseCode = 0 } = error;
  const detail = [code, command, responseCode || ''].join(' ').trim();
  const answered = code === 'EMESSAGE' && responseCode >= 400;
  if (handedOver && !answered) return { outcome: 'unknown', detail };
  const aboutMail = command === 'RCPT TO' || command === 'DATA' || code === 'EMESSAGE' || command === 'API';
  if (!aboutMail || responseCode === 421) return { outcome: 'unreachable', detail };
  if (responseCode === 0) return { outcome: code === 'EENVELOPE' ? 'refused' : 'unreachable', detail };
  // 503 says that the conversation went wrong, not the mail.
  const final = responseCode >= 500 && responseCode !== 503;
  return { outcome: final ? 'refused' : 'deferred', detail };
}
