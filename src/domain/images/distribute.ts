/**
 * Sends disks and customers' ISO images to hosts on other machines. Disks are sent ahead of time, so that no
 * customer waits for one; an ISO is sent when a server on the host needs it.
 */
import { ComputeError, type HostFinding } from '../../ports/compute.ts';
import type { FileToSend, WantedFile } from '../../ports/host-files.ts';
import { listBaseImages } from '../../store/images/images.ts';
import {
  type BackendFile,
  type BackendFileRow,
  findIsoFile,
  listBackendFiles,
  planBackendFiles,
} from '../../store/inventory/backend-files.ts';
import type { Service } from '../context.ts';

/** Failed attempts after which `status` warns. */
const FAILURES_TOLD = 3;
const MB = 1_000_000;

type Deps = Pick<Service, 'db' | 'compute'>;

/** Plans what the active hosts lack of the disks on offer. */
export async function planDistribution({ db, compute }: Deps): Promise<void> {
  const rescue = await compute.images?.rescue();
  await planBackendFiles(db, rescue?.sha256 ?? null);
}

/** Returns the file as it is sent. Refuses a file that this machine lacks. */
export async function findFileToSend(
  { db, compute, blobs }: Deps & Pick<Service, 'blobs'>,
  { kind, imageSha256 }: WantedFile,
): Promise<Pick<FileToSend, 'file' | 'path'>> {
  if (kind === 'iso') {
    const found = await findIsoFile(db, imageSha256);
    if (found === undefined) throw notHere();
    const sizeBytes = Number(found.size_bytes);
    return { file: { kind, sha256: imageSha256, sizeBytes, image: null }, path: blobs.path(found.blob_key) };
  }
  const disk = (await compute.images?.stored(imageSha256)) ?? null;
  if (disk === null) throw notHere();
  const { path, sha256, sizeBytes, image } = disk;
  return { file: { kind, sha256, sizeBytes, image }, path };
}

/** Resolves when the host has the file. */
export async function sendToBackend(
  { compute }: Deps,
  { backend }: BackendFile,
  file: FileToSend,
): Promise<void> {
  if (compute.sendFile === undefined) throw new ComputeError('refused', 'there are no other hosts');
  await compute.sendFile(backend, file);
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
  return { unfinished, counts };
}

function describeProgress({
  sent_bytes: sent,
  size_bytes: size,
  attempts,
  last_fault: fault,
}: BackendFileRow) {
  const megabytes = (bytes: bigint) => String(Math.floor(Number(bytes) / MB));
  const done = size === null ? 'waiting' : `${megabytes(sent)}/${megabytes(size)} MB`;
  return attempts === 0 || fault === null ? done : `${done}, ${attempts} attempts failed: ${fault}`;
}

/** Transfers that keep failing. */
export async function distributionFindings(service: Pick<Service, 'db'>): Promise<HostFinding[]> {
  const { unfinished } = await readDistribution(service);
  return unfinished
    .filter(({ row }) => row.attempts >= FAILURES_TOLD)
    .map(({ image, host, progress }) => ({
      level: 'warn',
      subject: 'images',
      message: `${image} does not reach host ${host}: ${progress}`,
    }));
}
