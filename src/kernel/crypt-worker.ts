/** The worker thread of crypt.ts: hashes the passwords it receives, one after another. */
import { parentPort } from 'node:worker_threads';
import { encrypt } from 'unixcrypt';

parentPort?.on('message', ({ password, salt }: { password: string; salt: string }) => {
  parentPort?.postMessage(encrypt(password, `$6$${salt}`));
});
