/** A mail server that hands over mail by LMTP, and what it is answered for each recipient. */
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

export class LmtpClient {
  readonly #socket: Socket;
  readonly #lines: AsyncIterator<string>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    this.#lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  static async open(port: number): Promise<LmtpClient> {
    const client = new LmtpClient(connect(port, '127.0.0.1'));
    await client.reply();
    await client.say('LHLO mail.skerry.example');
    return client;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The last line of the next reply; empty if the connection ended. */
  async reply(): Promise<string> {
    for (;;) {
      const { value = '', done } = await this.#lines.next();
      if (done || /^\d{3} /.test(value)) return value;
    }
  }

  async say(line: string): Promise<string> {
    this.#socket.write(`${line}\r\n`);
    return await this.reply();
  }

  /** Returns the final answer of each recipient. */
  async deliver(mail: string | Buffer, recipients: readonly string[], sender: string): Promise<string[]> {
    await this.say(`MAIL FROM:<${sender}>`);
    const answers: (string | null)[] = [];
    for (const recipient of recipients) {
      const answer = await this.say(`RCPT TO:<${recipient}>`);
      answers.push(answer.startsWith('250') ? null : answer);
    }
    if (answers.every((answer) => answer !== null)) {
      await this.say('RSET');
      return answers;
    }
    await this.say('DATA');
    this.#socket.write(dotStuffed(mail));
    const final: string[] = [];
    for (const answer of answers) final.push(answer ?? (await this.reply()));
    return final;
  }
}

/** In Latin-1, one character is one byte. */
function dotStuffed(mail: string | Buffer): Buffer {
  const text = (typeof mail === 'string' ? Buffer.from(mail) : mail).toString('latin1');
  const stuffed = text.replace(/^\./gm, '..');
  return Buffer.from(`${stuffed}${stuffed.endsWith('\r\n') ? '' : '\r\n'}.\r\n`, 'latin1');
}
