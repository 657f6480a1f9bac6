/** The worker thread of crypt.ts. */
import { encrypt } from 'unixcrypt';

export default ({ password, salt }: { readonly password: string; readonly salt: string }): string =>
  encrypt(password, `$6$${salt}`);
