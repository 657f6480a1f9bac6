/** Settings of the store for customers' files. */
import { bool, secret, text, url } from './rows.ts';

export const FILE_SETTINGS = {
  SKERRY_S3_URL: url(
    'S3-compatible store for customers’ images, https://…, without the bucket; ' +
      'unset: the folder images in the data folder',
  ),
  SKERRY_S3_BUCKET: text(null, 'bucket of that store, which must exist; required with SKERRY_S3_URL'),
  SKERRY_S3_REGION: text('us-east-1', 'region of that store; most stores but that of Amazon have one only'),
  SKERRY_S3_HOST_STYLE: bool(
    'put the bucket in front of the host name of the store, instead of into the path',
  ),
  SKERRY_S3_SNAPSHOTS: bool(
    'copy each new snapshot and backup to that store; hosts need a way to it, and hold no key',
  ),
  SKERRY_S3_ACCESS_KEY: secret('id of the key for that bucket; required with SKERRY_S3_URL'),
  SKERRY_S3_SECRET_KEY: secret('secret of that key; required with SKERRY_S3_URL'),
} as const;

/** The settings of a store, all of them or none. */
export const FILE_SETTINGS_TOGETHER = [
  'SKERRY_S3_URL',
  'SKERRY_S3_BUCKET',
  'SKERRY_S3_ACCESS_KEY',
  'SKERRY_S3_SECRET_KEY',
] as const satisfies readonly (keyof typeof FILE_SETTINGS)[];
