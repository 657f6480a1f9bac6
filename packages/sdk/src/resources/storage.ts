import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type {
  BackupPolicy,
  CreateSnapshot,
  CreateVolume,
  ListQuery,
  SetBackupPolicy,
  Snapshot,
  UpdateSnapshot,
  UpdateVolume,
  Volume,
} from '../types.ts';
import { byId, type Removal, Resource } from './resource.ts';

/** Disks that outlive servers (SPEC "Volume"). */
export class Volumes extends Resource {
  list(query: ListQuery<'volumes.list'> = {}, options?: CallOptions): Pages<Volume> {
    return this.pages(query, options, (api, params) => api.GET('/volumes', { params }));
  }

  create(body: CreateVolume, options?: CallOptions): Promise<Volume> {
    return this.transport.run((api) => api.POST('/volumes', { body }), options);
  }

  get(id: string, options?: CallOptions): Promise<Volume> {
    return this.transport.run((api) => api.GET('/volumes/{id}', byId(id)), options);
  }

  /** Changes its name, size, labels, or protection; it cannot shrink. */
  update(id: string, body: UpdateVolume, options?: CallOptions): Promise<Volume> {
    return this.transport.run((api) => api.PATCH('/volumes/{id}', { ...byId(id), body }), options);
  }

  /** Deletes a detached volume and all data on it. It is gone at once; the action ends when its disk is. */
  delete(id: string, options?: CallOptions): Promise<Removal> {
    return this.beginRemoval((api) => api.DELETE('/volumes/{id}', byId(id)), options);
  }

  /** Attaches the volume to a server in the same region. */
  attach(id: string, body: { readonly server: string }, options?: CallOptions): Promise<Volume> {
    return this.transport.run((api) => api.POST('/volumes/{id}/attach', { ...byId(id), body }), options);
  }

  detach(id: string, options?: CallOptions): Promise<Volume> {
    return this.transport.run((api) => api.POST('/volumes/{id}/detach', byId(id)), options);
  }
}

/** Copies of servers' disks (SPEC "Snapshot"). Restore one with `servers.restore`. */
export class Snapshots extends Resource {
  list(query: ListQuery<'snapshots.list'> = {}, options?: CallOptions): Pages<Snapshot> {
    return this.pages(query, options, (api, params) => api.GET('/snapshots', { params }));
  }

  /**
   * Starts a snapshot of a server: it is `creating`. Wait for it with `skerry.waitFor(snapshot, 'ready')`.
   */
  create(server: string, body: CreateSnapshot = {}, options?: CallOptions): Promise<Snapshot> {
    return this.transport.run(
      (api) => api.POST('/servers/{id}/snapshots', { ...byId(server), body }),
      options,
    );
  }

  get(id: string, options?: CallOptions): Promise<Snapshot> {
    return this.transport.run((api) => api.GET('/snapshots/{id}', byId(id)), options);
  }

  /** Changes its name, expiry, labels, or protection. */
  update(id: string, body: UpdateSnapshot, options?: CallOptions): Promise<Snapshot> {
    return this.transport.run((api) => api.PATCH('/snapshots/{id}', { ...byId(id), body }), options);
  }

  delete(id: string, options?: CallOptions): Promise<Removal> {
    return this.beginRemoval((api) => api.DELETE('/snapshots/{id}', byId(id)), options);
  }
}

/** Backups of servers on a schedule: snapshots of the type `backup`. */
export class BackupPolicies extends Resource {
  get(server: string, options?: CallOptions): Promise<BackupPolicy> {
    return this.transport.run((api) => api.GET('/servers/{id}/backup-policy', byId(server)), options);
  }

  /** Turns backups on or off, and replaces their schedule. */
  replace(server: string, body: SetBackupPolicy, options?: CallOptions): Promise<BackupPolicy> {
    return this.transport.run(
      (api) => api.PUT('/servers/{id}/backup-policy', { ...byId(server), body }),
      options,
    );
  }
}
