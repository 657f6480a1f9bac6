/** The account of a test wallet. */
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../../../src/drivers/chain/account-key.ts';

export const TEST_ACCOUNT = AccountKey.parse(
  HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'").publicExtendedKey,
);
