/**
 * Reads mail in a worker thread. The time of the library grows with the square of some sizes that a sender
 * chooses, so a mail that takes too long ends with its thread, and requests continue meanwhile.
 */
import pLimit from 'p-limit';
import { WorkerThread, WorkerTimeout } from '../../kernel/worker-thread.ts';
import {
  type MailBody,
  type MailHeaders,
  type MailParser,
  UnreadableMail,
} from '../../ports/incoming-mail.ts';
import type { ParseTask } from './parse-thread.ts';

const HEADERS_TIMEOUT_MS = 2_000;
/** A large mail takes two seconds. */
const BODY_TIMEOUT_MS = 10_000;
/** Servers write some kilobytes of headers. */
const HEADERS_MAX_BYTES = 64 * 1024;

const thread = new WorkerThread<ParseTask, MailHeaders | MailBody | null>(
  new URL('./parse-thread.ts', import.meta.url),
);
/** The time of a mail begins when the one before it is read. */
const inTurn = pLimit(1);

export const MAIL_PARSER: MailParser = {
  async readHeaders(bytes) {
    const head = headOf(bytes);
    return await inTurn(() => run<MailHeaders>({ part: 'headers', bytes: head }, HEADERS_TIMEOUT_MS));
  },
  async readBody(bytes) {
    const { text, files } = await inTurn(() => readInTime(bytes));
    // Between threads, a Buffer becomes its base class.
    return { text, files: files.map((file) => ({ ...file, content: Buffer.from(file.content) })) };
  },
};

/** The mail decides how long its body takes. Headers are short, so only a busy machine delays them. */
async function readInTime(bytes: Buffer): Promise<MailBody> {
  try {
    return await run<MailBody>({ part: 'body', bytes }, BODY_TIMEOUT_MS);
  } catch (error) {
    if (error instanceof WorkerTimeout) throw new UnreadableMail('the mail takes too long to read');
    throw error;
  }
}

async function run<Part extends MailHeaders | MailBody>(task: ParseTask, timeoutMs: number): Promise<Part> {
  const part = await thread.run(task, { timeoutMs });
  if (part === null) throw new UnreadableMail('the mail exceeds a bound');
  return part as Part;
}

/** The bytes up to the first empty line. Fails with `UnreadableMail` if there are too many. */
function headOf(bytes: Buffer): Buffer {
  const ends = ['\r\n\r\n', '\n\n'].map((end) => bytes.indexOf(end)).filter((at) => at >= 0);
  const end = ends.length === 0 ? bytes.length : Math.min(...ends);
  if (end > HEADERS_MAX_BYTES) throw new UnreadableMail('the headers are too long');
  return bytes.subarray(0, end);
}
