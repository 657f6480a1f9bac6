/** For forms that ask for the current password: names that field, and a message without the email. */
import { Failure, fail } from '../../kernel/fail.ts';

export const PASSWORD_FIELD = 'current_password';

export async function withPasswordError<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'bad_credentials') throw error;
    fail('bad_credentials', { field: PASSWORD_FIELD }, 'The password is incorrect.');
  }
}
