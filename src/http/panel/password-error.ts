/** Forms that ask for the present password again: which field is wrong is known here, and that there is no e-mail in it. */
import { Failure, fail } from '../../kernel/fail.ts';

export const PASSWORD_FIELD = 'current_password';

export async function withPasswordError<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'bad_credentials') throw error;
    fail('bad_credentials', { field: PASSWORD_FIELD }, 'This is not the password of your account.');
  }
}
