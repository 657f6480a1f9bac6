/**
 * Sends disks and customers' ISO images to hosts on other machines. Disks are sent ahead of time, so that no
 * customer waits for one; an ISO is sent when a server on the host needs it.
 */
import { readFrom } from '../../kernel/files.ts';
import { ComputeError, DamagedFile, type HostFinding } from '../../ports/compute.ts';
import type { FileToFollow, FileToSend, WantedFile } from '../../ports/host-files.ts';
import { listBaseImages } from '../../store/images/images.ts';
import {
  type BackendFileRow,
  dropSource,
  findIsoFile,
  type LeasedFile,
  listBackendFiles,
  markDamaged,
  planBackendFiles,
} from '../../store/inventory/backend-files.ts';
import type { Service } from '../context.ts';

/** Failed attempts after which `status` warns. */
const FAILURES_TOLD = 3;
const MB = 1_000_000;

type Deps = Pick<Service, 'db' | 'compute'>;
type SourceFile = Pick<FileToSend, 'file' | 'read'>;

/** Plans what the active hosts lack of the disks on offer. */
export async function planDistribution({ db, compute }: Deps): Promise<void> {
  const rescue = await compute.images?.rescue();
  await planBackendFiles(db, rescue?.sha256 ?? null);
}

/** Returns the file as it is sent. Refuses a file that this machine lacks. */
export async function findFileToSend(
  { db, compute, blobs }: Deps & Pick<Service, 'blobs'>,
  { kind, imageSha256 }: WantedFile,
): Promise<SourceFile> {
  if (kind === 'iso') return await findIso({ db, blobs }, imageSha256);
  const disk = (await compute.images?.stored(imageSha256)) ?? null;
  if (disk === null) throw notHere();
  const { path, sha256, sizeBytes, image } = disk;
  return { file: { kind, sha256, sizeBytes, image }, read: (offset) => readFrom(path, offset, sizeBytes) };
}

/** Returns a customer's ISO image, which may be in the store of files. Refuses a deleted image. */
export async function findIso(
  { db, blobs }: Pick<Service, 'db' | 'blobs'>,
  sha256: string,
): Promise<SourceFile> {
  const found = await findIsoFile(db, sha256);
  if (found === undefined) throw notHere();
  const { blob_key: key, size_bytes: size } = found;
  return {
    file: { kind: 'iso', sha256, sizeBytes: Number(size), image: null },
    read: (offset) => blobs.read(key, offset),
  };
}

/** Resolves when the host has the file: from another host of its region if one can send it, or from here. */
export async function sendToBackend(
  service: Deps & Pick<Service, 'log'>,
  leased: LeasedFile,
  file: FileToSend,
): Promise<void> {
  const { db, compute, log } = service;
  const { source, backend } = leased;
  // Set once the host answered.
  let hadBytes: number | null = null;
  if (source !== null) {
    const onProgress = (bytes: number) => {
      hadBytes ??= bytes;
      file.onProgress(bytes);
    };
    const error = await passFromHost(compute, { ...file, onProgress }, { from: source, to: backend });
    if (error === null) return;
    log.warn({ err: error, backend, source }, 'the other host did not send the image, so the service does');
    await dropSource(db, leased);
    if (error instanceof DamagedFile && hadBytes === 0) await markDamaged(db, { ...leased, backend: source });
  }
  if (compute.sendFile === undefined) throw new ComputeError('refused', 'there are no other hosts');
  try {
    await compute.sendFile(backend, file);
  } catch (error) {
    // The other host sent the first part of it, and this machine the rest.
    const isDamaged = error instanceof ComputeError && error.fault === 'refused';
    if (source !== null && hadBytes === 0 && isDamaged) await markDamaged(db, { ...leased, backend: source });
    throw error;
  }
}

/** Returns why the other host could not send it, or null. Bytes that arrived stay, unless they are wrong. */
async function passFromHost(
  compute: Service['compute'],
  file: FileToFollow,
  backends: { readonly from: string; readonly to: string },
): Promise<ComputeError | null> {
  try {
    if (compute.passFile === undefined) return new ComputeError('transient', 'there are no other hosts');
    await compute.passFile(file, backends);
    return null;
  } catch (error) {
    if (error instanceof ComputeError && !file.signal.aborted) return error;
    throw error;
  }
}

function notHere(): ComputeError {
  return new ComputeError('refused', 'the machine of the service does not have this image');
}

/** A disk or ISO image that a host lacks. */
export interface UnfinishedFile {
  readonly image: string;
  readonly host: string;
  /** Such as `412/600 MB`. */
  readonly progress: string;
  readonly row: BackendFileRow;
}

export interface Distribution {
  readonly unfinished: readonly UnfinishedFile[];
  /** Copies that another host refused, because they have other bytes. */
  readonly damaged: readonly Pick<UnfinishedFile, 'image' | 'host'>[];
  /** How many hosts have a disk, by the SHA-256 of its image, and how many should. */
  readonly counts: ReadonlyMap<string, { readonly ready: number; readonly all: number }>;
}

export async function readDistribution({ db }: Pick<Service, 'db'>): Promise<Distribution> {
  const rows = await listBackendFiles(db);
  const images = await listBaseImages(db);
  const counts = new Map<string, { ready: number; all: number }>();
  for (const { image_sha256: sha256, kind, ready } of rows) {
    if (kind === 'iso') continue;
    const count = counts.get(sha256) ?? { ready: 0, all: 0 };
    counts.set(sha256, { ready: count.ready + (ready ? 1 : 0), all: count.all + 1 });
  }
  const nameOf = ({ kind, image_sha256: sha256 }: BackendFileRow): string => {
    if (kind !== 'disk') return kind === 'rescue' ? 'rescue' : "a customer's image";
    const image = images.find(({ base_sha256: base }) => base === sha256);
    return image === undefined ? 'a replaced image' : `${image.family}-${image.version}`;
  };
  const unfinished = rows
    .filter(({ ready }) => !ready)
    .map((row) => ({ image: nameOf(row), host: row.backend, progress: describeProgress(row), row }));
  const damaged = rows
    .filter(({ damaged }) => damaged)
    .map((row) => ({ image: nameOf(row), host: row.backend }));
  return { unfinished, damaged, counts };
}

function describeProgress({
  sent_bytes: sent,
  size_bytes: size,
  attempts,
  last_fault: fault,
  sending,
  source,
}: BackendFileRow) {
  const megabytes = (bytes: bigint) => String(Math.floor(Number(bytes) / MB));
  const from = sending && source !== null ? ` from ${source}` : '';
  const done = size === null ? 'waiting' : `${megabytes(sent)}/${megabytes(size)} MB${from}`;
  return attempts === 0 || fault === null ? done : `${done}, ${attempts} attempts failed: ${fault}`;
}

/** Transfers that keep failing, and copies with other bytes. */
export async function distributionFindings(service: Pick<Service, 'db'>): Promise<HostFinding[]> {
  const { unfinished, damaged } = await readDistribution(service);
  const failing = unfinished
    .filter(({ row }) => row.attempts >= FAILURES_TOLD)
    .map(({ image, host, progress }) => `${image} does not reach host ${host}: ${progress}`);
  const wrong = damaged.map(
    ({ image, host }) => `host ${host} sent a damaged copy of ${image} to another host: check its disk`,
  );
  return [...failing, ...wrong].map((message) => ({ level: 'warn', subject: 'images', message }));
}
