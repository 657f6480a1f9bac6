/**
 * Mail over SMTP, one connection per mail. The message is a stream that the library reads only after the
 * server's 354 response to DATA. That is the handover: before it, a failure means that nothing was sent.
 * After it, only a response from the server is proof; a connection that breaks or times out leaves the
 * outcome unknown.
 */

import { Readable } from 'node:stream';
import { domainToASCII } from 'node:url';
import type SmtpConnection from 'nodemailer/lib/smtp-connection';
import { LeaseLost } from '../../kernel/fail.ts';
import type { Sender, SmtpServer } from '../../kernel/settings/smtp-url.ts';
import type { Mailer, MailOutcome, OutgoingMail } from '../../ports/mail.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 10_000;
/** A server may scan a mail before it responds. */
const IDLE_TIMEOUT_MS = 30_000;

interface SmtpOptions {
  readonly server: SmtpServer;
  readonly from: Sender;
  /** A certificate to trust in addition to the system's. */
  readonly ca?: string;
  readonly idleTimeoutMs?: number;
}

/** The fields that the library adds to its errors. */
interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

export class SmtpMailer implements Mailer {
  readonly #options: SmtpOptions;
  readonly #openConnections = new Set<SmtpConnection>();

  constructor(options: SmtpOptions) {
    this.#options = options;
  }

  async send(mail: OutgoingMail, confirmHandover: () => Promise<boolean>): Promise<MailOutcome> {
    let isHandedOver = false;
    try {
      await this.#deliver(mail, async () => {
        if (!(await confirmHandover())) throw new LeaseLost();
        isHandedOver = true;
      });
      return { outcome: 'sent' };
    } catch (error) {
      return error instanceof LeaseLost
        ? { outcome: 'taken' }
        : failureOutcome(error as SmtpError, isHandedOver);
    }
  }

  close(): void {
    for (const connection of this.#openConnections) connection.close();
  }

  async #deliver(mail: OutgoingMail, onHandover: () => Promise<void>): Promise<void> {
    const { from, server } = this.#options;
    // Loaded with the first mail, so that it doesn't delay startup.
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
      const text = Readable.from(streamAfterHandover(bytes, onHandover), { objectMode: false });
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
      // Always encrypted, except to a server on this machine, whose certificate no client would trust.
      requireTLS: !server.secure && !server.loopback,
      ignoreTLS: !server.secure && server.loopback,
      // Not this machine's host name, which would leak to receivers.
      name: from.domain,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: Math.min(GREETING_TIMEOUT_MS, idleTimeoutMs),
      socketTimeout: idleTimeoutMs,
      tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
    });
  }
}

async function* streamAfterHandover(bytes: Buffer, onHandover: () => Promise<void>): AsyncGenerator<Buffer> {
  await onHandover();
  yield bytes;
}

/** Converts the domain to ASCII (punycode). The local part has no ASCII form; non-ASCII needs SMTPUTF8. */
function toWireAddress(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1));
  return domain === '' ? address : `${address.slice(0, at)}@${domain}`;
}

function promisifyStep(start: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}

/**
 * Before RCPT TO, a failure is about the server or our settings and says nothing about the mail: even a 5xx,
 * such as for a wrong password, must not lose the customer's mail.
 */
function failureOutcome(error: SmtpError, handedOver: boolean): MailOutcome {
  const { code = 'error', command = '', responseCode = 0 } = error;
  const detail = [code, command, responseCode || ''].join(' ').trim();
  const answered = code === 'EMESSAGE' && responseCode >= 400;
  if (handedOver && !answered) return { outcome: 'unknown', detail };
  const aboutMail = command === 'RCPT TO' || command === 'DATA' || code === 'EMESSAGE' || command === 'API';
  if (!aboutMail || responseCode === 421) return { outcome: 'unreachable', detail };
  if (responseCode === 0) return { outcome: code === 'EENVELOPE' ? 'refused' : 'unreachable', detail };
  // 503 means a wrong command sequence, not a rejected mail.
  const final = responseCode >= 500 && responseCode !== 503;
  return { outcome: final ? 'refused' : 'deferred', detail };
}
