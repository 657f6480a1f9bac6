/** Generated from openapi/v1.json by `npm run openapi`. Do not edit. */
export interface paths {
    "/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List servers
         * @description Scope: `read`.
         */
        get: operations["servers.list"];
        put?: never;
        /**
         * Create a server
         * @description Charges the first cycle and starts provisioning. `ipv4` and `ipv6` are null until the server is `running`, which typically takes 60 to 120 seconds.
         *
         *     Scope: `write`. Counts toward the provisioning rate limit.
         */
        post: operations["servers.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a server
         * @description Scope: `read`.
         */
        get: operations["servers.get"];
        put?: never;
        post?: never;
        /**
         * Delete a server
         * @description Permanently deletes a server, in any status, unless it is protected. The status is `destroying` until the disk is wiped; then we send `server.destroyed` and the server no longer exists. Its volumes are detached and its snapshots are kept. A server whose install has not ended is refunded in full.
         *
         *     Scope: `write`.
         */
        delete: operations["servers.delete"];
        options?: never;
        head?: never;
        /**
         * Update a server
         * @description Replaces `tags` and `labels` as a whole; `protection` changes only the members that it names. If you turn `auto_renew` off, a server that is suspended for insufficient balance no longer resumes automatically. `boot` starts an action: wait for it before you reboot the server.
         *
         *     Scope: `write`.
         */
        patch: operations["servers.update"];
        trace?: never;
    };
    "/servers/{id}/reboot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reboot a server
         * @description Asks the guest to shut down, and powers it off if it does not respond. With `hard=true`, resets it immediately. The status stays `running`. We send `server.rebooted` when the reboot completes. A reboot also leaves the rescue system.
         *
         *     Scope: `write`.
         */
        post: operations["servers.reboot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rebuild a server from an image
         * @description Erases the disk and installs the image. The server keeps its addresses. Its status is `installing` until we send `server.rebuilt`.
         *
         *     Scope: `write`.
         */
        post: operations["servers.rebuild"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/rescue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Boot a server into the rescue system
         * @description The response contains the rescue password, which we show only once. We send `server.rebooted` when the rescue system is running. The next reboot leaves it.
         *
         *     Scope: `write`.
         */
        post: operations["servers.rescue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a server
         * @description Asks the guest to shut down, and powers it off if it does not respond. The status stays `running` until the server is off; then we send `server.stopped`. Its billing cycle continues and renews.
         *
         *     Scope: `write`.
         */
        post: operations["servers.stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a stopped server
         * @description The status becomes `running` when the server is powered on, usually within seconds. The system boots after that: connect to it to learn when it is ready. A server that was not renewed is charged a new cycle, which starts now, and resumes. A server that is suspended for insufficient balance resumes automatically after you top up.
         *
         *     Scope: `write`.
         */
        post: operations["servers.start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/resize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resize a server to another plan
         * @description Changes CPUs and memory, and with `resize_disk` the disk. The server must be `stopped`, or `restart` true. The cycle keeps its end: the rest of it is charged or refunded pro rata. If the resize fails, the previous plan and the money come back.
         *
         *     Scope: `write`.
         */
        post: operations["servers.resize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/iso": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Insert an ISO image into a server
         * @description Puts an image that you uploaded into the drive for ISO images, also while the server runs, and replaces the image in it. We send `server.iso_inserted` when the server has it. To boot it, set `boot` to `iso` and reboot. A server with an ISO image is not moved to another host.
         *
         *     Scope: `write`.
         */
        put: operations["servers.insert_iso"];
        post?: never;
        /**
         * Eject the ISO image of a server
         * @description Empties the drive, also while the server runs, and sets `boot` to `disk`. We send `server.iso_ejected` when the drive is empty.
         *
         *     Scope: `write`.
         */
        delete: operations["servers.eject_iso"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a server from a snapshot
         * @description Erases the disk and restores any of your `ready` snapshots from the same region that fits it. The server keeps its addresses. Its status is `installing` until we send `server.rebuilt`.
         *
         *     Scope: `write`.
         */
        post: operations["servers.restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open the console of a server
         * @description Returns the URL of a page that shows the screen of a running server. It works once, within five minutes. A token of scope `read` can only watch; `write` and above can also type.
         *
         *     Scope: `read`.
         */
        get: operations["servers.console"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve the metrics of a server
         * @description Hourly averages of 30 days. With `step_s` 300: of 48 hours, with 60: of 6 hours.
         *
         *     Scope: `read`.
         */
        get: operations["servers.metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/rdns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set reverse DNS
         * @description Sets the host name of the IPv4 address, of one address in the /64, or of both. Null removes one.
         *
         *     Scope: `write`.
         */
        post: operations["servers.set_rdns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List images
         * @description Lists the official images and your own.
         *
         *     Scope: `read`.
         */
        get: operations["images.list"];
        put?: never;
        /**
         * Upload an image
         * @description Uploads an ISO 9660 image as `multipart/form-data`. A server installed from it boots it as a CD and is `running` once powered on. SSH keys are recorded but not injected. We cancel an upload that sends no data for a minute. An account can have 2 uploads in progress; another one gets 409 `conflict_state`.
         *
         *     Scope: `write`. Counts toward the provisioning rate limit.
         */
        post: operations["images.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an image
         * @description Scope: `read`.
         */
        get: operations["images.get"];
        put?: never;
        post?: never;
        /**
         * Delete a custom image
         * @description Servers installed from it keep running. You cannot delete official images.
         *
         *     Scope: `write`.
         */
        delete: operations["images.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List plans
         * @description Scope: `read`.
         */
        get: operations["plans.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/plans/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a plan
         * @description Scope: `read`.
         */
        get: operations["plans.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/regions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List regions
         * @description Scope: `read`.
         */
        get: operations["regions.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/regions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a region
         * @description Scope: `read`.
         */
        get: operations["regions.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ssh-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List SSH keys
         * @description Lists your SSH keys without `public_key`.
         *
         *     Scope: `read`.
         */
        get: operations["ssh_keys.list"];
        put?: never;
        /**
         * Add an SSH key
         * @description Scope: `write`.
         */
        post: operations["ssh_keys.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ssh-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an SSH key
         * @description Scope: `read`.
         */
        get: operations["ssh_keys.get"];
        put?: never;
        post?: never;
        /**
         * Delete an SSH key
         * @description Servers created with the key keep it.
         *
         *     Scope: `write`.
         */
        delete: operations["ssh_keys.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve the account
         * @description Includes the token of the request: which one it is, its scope, and when it expires.
         *
         *     Scope: `read`.
         */
        get: operations["account.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/account/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the limits of the account
         * @description Shows how much of each limit you use.
         *
         *     Scope: `read`.
         */
        get: operations["limits.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/account/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API tokens
         * @description Scope: `read`.
         */
        get: operations["tokens.list"];
        put?: never;
        /**
         * Create an API token
         * @description The response contains the plaintext token, which we show only once. A token can create tokens only up to its own scope, that expire no later than it does, and that are revoked with it.
         *
         *     Scope: `write`.
         */
        post: operations["tokens.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/account/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an API token
         * @description Scope: `read`.
         */
        get: operations["tokens.get"];
        put?: never;
        post?: never;
        /**
         * Revoke an API token
         * @description Takes effect immediately, for a token of any scope, and for all tokens that it created. A token can revoke itself. To rotate a token, revoke it with the token that it created, which then stays valid.
         *
         *     Scope: `write`.
         */
        delete: operations["tokens.delete"];
        options?: never;
        head?: never;
        /**
         * Rename an API token or narrow its limits
         * @description Changes only the given limits, which can only be narrowed: anything else returns 403 with the issue `not_allowed`. The new limits also apply to all tokens that it created.
         *
         *     Scope: `write`.
         */
        patch: operations["tokens.update"];
        trace?: never;
    };
    "/billing/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve the balance
         * @description Scope: `billing`.
         */
        get: operations["balance.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List ledger entries
         * @description Scope: `billing`.
         */
        get: operations["ledger.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/topup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List top-ups
         * @description Scope: `billing`.
         */
        get: operations["topups.list"];
        put?: never;
        /**
         * Create a top-up
         * @description Locks the exchange rate until `expires_at` and returns a deposit address. Send `deposit_amount` to `deposit_address` on `network`.
         *
         *     Scope: `billing`.
         */
        post: operations["topups.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/topup/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a top-up
         * @description Scope: `billing`.
         */
        get: operations["topups.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/quotes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Quote an operation
         * @description Returns the price of an operation, and whether it is possible now, without doing it. Nothing is reserved. Send the id as `quote` with the request of the operation: if its price is higher by then, nothing is charged. The balance is shown only to a token of scope `billing`.
         *
         *     Scope: `read`.
         */
        post: operations["quotes.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List volumes
         * @description Scope: `read`.
         */
        get: operations["volumes.list"];
        put?: never;
        /**
         * Create a volume
         * @description A volume uses no disk space until you attach it for the first time.
         *
         *     Scope: `write`.
         */
        post: operations["volumes.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/volumes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a volume
         * @description Scope: `read`.
         */
        get: operations["volumes.get"];
        put?: never;
        post?: never;
        /**
         * Delete a volume
         * @description Permanently deletes a volume and its data. Detach it first.
         *
         *     Scope: `write`.
         */
        delete: operations["volumes.delete"];
        options?: never;
        head?: never;
        /**
         * Update a volume
         * @description Renames or enlarges a volume, changes its protection, or replaces its `labels` as a whole. It grows online. You resize the file system on it yourself.
         *
         *     Scope: `write`.
         */
        patch: operations["volumes.update"];
        trace?: never;
    };
    "/volumes/{id}/attach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Attach a volume to a server
         * @description The server must be running or stopped, and in the same region. We send `volume.attached` when it completes.
         *
         *     Scope: `write`.
         */
        post: operations["volumes.attach"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/volumes/{id}/detach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Detach a volume
         * @description We send `volume.detached` when it completes.
         *
         *     Scope: `write`.
         */
        post: operations["volumes.detach"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List snapshots
         * @description Scope: `read`.
         */
        get: operations["snapshots.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a snapshot
         * @description Creates a crash-consistent snapshot of a running or stopped server. We send `snapshot.ready` when it completes, or `snapshot.failed` if it fails.
         *
         *     Scope: `write`.
         */
        post: operations["snapshots.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/snapshots/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a snapshot
         * @description Scope: `read`.
         */
        get: operations["snapshots.get"];
        put?: never;
        post?: never;
        /**
         * Delete a snapshot
         * @description You cannot delete a snapshot while it is being created or restored.
         *
         *     Scope: `write`.
         */
        delete: operations["snapshots.delete"];
        options?: never;
        head?: never;
        /**
         * Update a snapshot
         * @description Changes its name, expiry, or protection, or replaces its `labels` as a whole.
         *
         *     Scope: `write`.
         */
        patch: operations["snapshots.update"];
        trace?: never;
    };
    "/servers/{id}/backup-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve the backup policy of a server
         * @description Scope: `read`.
         */
        get: operations["backup_policies.get"];
        /**
         * Set the backup policy of a server
         * @description Turns backups on or off, and replaces their schedule. A backup is a snapshot of `type` `backup`: list, restore, and delete it like any other. Backups do not count as snapshots of the quotas. When a new one is ready, we delete the oldest above `keep`, except protected ones. After two in a row that failed or were missed, we send `backup.failed`. Backups of a deleted server expire after 30 days.
         *
         *     Backups are a part of the price of the server. Enabling them charges the rest of the cycle, and disabling them returns it to your balance.
         *
         *     Scope: `write`.
         */
        put: operations["backup_policies.replace"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/firewall/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List firewall groups
         * @description Scope: `read`.
         */
        get: operations["firewall_groups.list"];
        put?: never;
        /**
         * Create a firewall group
         * @description You can include its rules and the servers to apply it to.
         *
         *     Scope: `write`.
         */
        post: operations["firewall_groups.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/firewall/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a firewall group
         * @description Scope: `read`.
         */
        get: operations["firewall_groups.get"];
        put?: never;
        post?: never;
        /**
         * Delete a firewall group
         * @description The group must not be applied to any server.
         *
         *     Scope: `write`.
         */
        delete: operations["firewall_groups.delete"];
        options?: never;
        head?: never;
        /**
         * Update a firewall group
         * @description `attach` and `detach` change the servers that the group applies to and keep the others, also if several clients do so at once. `applied_to` replaces the whole list first. We send `firewall.applied` for each added server.
         *
         *     Scope: `write`.
         */
        patch: operations["firewall_groups.update"];
        trace?: never;
    };
    "/firewall/groups/{id}/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Replace the rules of a firewall group
         * @description Replaces all rules atomically. Every rule gets a new id.
         *
         *     Scope: `write`.
         */
        put: operations["firewall_rules.replace"];
        /**
         * Add a rule to a firewall group
         * @description Appends the rule to the list. Rules apply in order, and the first match wins.
         *
         *     Scope: `write`.
         */
        post: operations["firewall_rules.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/firewall/groups/{id}/rules/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a rule from a firewall group
         * @description Scope: `write`.
         */
        delete: operations["firewall_rules.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Scope: `read`.
         */
        get: operations["webhooks.list"];
        put?: never;
        /**
         * Create a webhook
         * @description The response contains the signing secret, which we show only once.
         *
         *     Scope: `write`.
         */
        post: operations["webhooks.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a webhook
         * @description Scope: `read`.
         */
        get: operations["webhooks.get"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Scope: `write`.
         */
        delete: operations["webhooks.delete"];
        options?: never;
        head?: never;
        /**
         * Update a webhook
         * @description Changes the URL, the events, or whether the webhook is active. Making it inactive cancels its pending deliveries.
         *
         *     Scope: `write`.
         */
        patch: operations["webhooks.update"];
        trace?: never;
    };
    "/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook
         * @description Creates the next signing secret, which we show only once. Until you end the rotation, each delivery has `X-Service-Signature` of the current secret and `X-Service-Signature-Next` of the next one. Calling it again replaces the next secret.
         *
         *     Scope: `write`.
         */
        post: operations["webhooks.rotate_secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/end-rotation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the rotation of a secret
         * @description The next secret replaces the current one at once. Receivers must know it by then.
         *
         *     Scope: `write`.
         */
        post: operations["webhooks.end_rotation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends an event of type `ping` with the webhook in `data`, even if it does not subscribe to `ping`. We make one attempt.
         *
         *     Scope: `write`.
         */
        post: operations["webhooks.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook deliveries
         * @description Lists the delivery attempts of the last 7 days.
         *
         *     Scope: `read`.
         */
        get: operations["deliveries.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a delivery
         * @description Creates a new delivery of the same event.
         *
         *     Scope: `write`.
         */
        post: operations["deliveries.replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alerts
         * @description Scope: `read`.
         */
        get: operations["alerts.list"];
        put?: never;
        /**
         * Create an alert
         * @description Watches the listed servers, or those with the labels. We evaluate alerts every minute, and send an event and an email when one fires.
         *
         *     Scope: `write`.
         */
        post: operations["alerts.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an alert
         * @description Scope: `read`.
         */
        get: operations["alerts.get"];
        put?: never;
        post?: never;
        /**
         * Delete an alert
         * @description If it fires for servers, it is resolved first.
         *
         *     Scope: `write`.
         */
        delete: operations["alerts.delete"];
        options?: never;
        head?: never;
        /**
         * Update an alert
         * @description If the condition changes, the alert no longer fires until the new condition is met. A disabled alert does not fire.
         *
         *     Scope: `write`.
         */
        patch: operations["alerts.update"];
        trace?: never;
    };
    "/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tickets
         * @description Scope: `read`.
         */
        get: operations["tickets.list"];
        put?: never;
        /**
         * Open a ticket
         * @description We answer in the ticket, and by email. A frozen account can also open tickets.
         *
         *     Scope: `write`.
         */
        post: operations["tickets.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tickets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a ticket
         * @description Scope: `read`.
         */
        get: operations["tickets.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tickets/{id}/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reply to a ticket
         * @description A closed ticket opens again.
         *
         *     Scope: `write`.
         */
        post: operations["tickets.reply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tickets/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a ticket
         * @description We delete a closed ticket after a year.
         *
         *     Scope: `write`.
         */
        post: operations["tickets.close"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List audit events
         * @description Lists every authenticated request of the last 90 days that changed something or tried to.
         *
         *     Scope: `read`.
         */
        get: operations["audit_events.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an audit event
         * @description Scope: `read`.
         */
        get: operations["audit_events.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List actions
         * @description We keep an action for 90 days, also if its resource is deleted.
         *
         *     Scope: `read`.
         */
        get: operations["actions.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/actions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an action
         * @description Instead of polling, open the event stream with `types=action.success,action.error`, and then read the action once.
         *
         *     Scope: `read`.
         */
        get: operations["actions.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/servers/{id}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the actions of a server
         * @description Scope: `read`.
         */
        get: operations["actions.of_server"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream events
         * @description Streams the events of your account as server-sent events. In each message, `id` is
         *     the number of the event, `event` is its type, and `data` is the event on one line, with the number as
         *     `seq`. Each account numbers its events without gaps. A token below the scope `billing` does not receive
         *     events about money (`billing.*`, `topup.*`) and sees gaps in their place.
         *
         *     Without `after` and `Last-Event-ID`, the stream starts now. With either, it first sends every event
         *     after that number. We keep events for 30 days. An older number returns 400 with
         *     the oldest available number in `min`. A number that does not exist yet returns 400 with the latest number
         *     in `max`.
         *
         *     With `types`, other events are left out in the same way. Without it, `action.*` are left out. A token
         *     limited to resources, labels, or regions gets 403 if it receives none of the types.
         *
         *     A message without `data` only advances your position. We send a heartbeat every 15
         *     seconds. An account can have 10 open streams; another one returns 409. The
         *     stream ends when its token expires or is revoked.
         *
         *     Scope: `read`.
         */
        get: operations["events.stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    event: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an event
         * @description We send a POST to the URL of a webhook for each event that it subscribes to. To verify
         *     it, compute the HMAC-SHA256 of `<t>.<raw body>` with the whole secret as the key, and compare it with
         *     `v1` in constant time. Reject a `t` that differs from your clock by more than
         *     300 seconds. An event can arrive more than once, and events can arrive in any order:
         *     store the `id` of each. Respond with any 2xx status within 10 seconds. We
         *     retry after any other outcome, up to 6 attempts in total.
         */
        post: operations["deliveries.receive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description The body of every error response. */
        Error: {
            error: {
                /** @enum {string} */
                code: "invalid_request" | "unauthenticated" | "forbidden_scope" | "not_found" | "conflict_state" | "unprocessable" | "rate_limited" | "jurisdictional_block" | "internal" | "maintenance";
                /** @description A human-readable explanation: the problem and how to fix it. */
                message: string;
                /** @description The invalid fields, each with its issue and the bound or the allowed values. */
                errors: {
                    /** @description The dotted path of the field. Empty for the request as a whole. */
                    field: string;
                    /** @enum {string} */
                    issue: "required" | "unknown_key" | "invalid_type" | "invalid_format" | "invalid_value" | "min_items" | "max_items" | "min_length" | "max_length" | "min" | "max" | "not_found" | "unavailable" | "insufficient_balance" | "limit_reached" | "protected" | "price_changed" | "mismatch" | "wrong_state" | "in_use" | "not_allowed";
                    min?: number;
                    max?: number;
                    /** @description The allowed values. Set with `invalid_value`. */
                    allowed?: (string | number)[];
                    /** @description The expected type. Set with `invalid_type`. */
                    expected?: string;
                    /** @description The expected pattern. Set with `invalid_format`. */
                    pattern?: string;
                    /** @description The expected format. Set with `invalid_format`. */
                    format?: string;
                    /** @description The limit. Set with `limit_reached`. */
                    limit?: number;
                    /** @description How much of the limit you use now. Set with `limit_reached`, unless only the request is too large. */
                    used?: number;
                    /** @description Your balance in US dollars. Set with `insufficient_balance`. */
                    have?: number;
                    need?: number;
                    deficit?: number;
                    /** @description The current price in US dollars. Set with `price_changed`. */
                    price_usd?: number;
                    /** @description Seconds to wait. Set with `unavailable`. */
                    retry_after_s?: number;
                }[];
                /** @description The same as the X-Request-Id header. */
                request_id: string;
            };
        };
        Server: {
            /**
             * @description Opaque.
             * @example srv_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "server";
            name: string;
            /**
             * @description `running`: powered on. After an install, rebuild, or restore, SSH has answered once, or the server ran for ten minutes without it. After `start`, `reboot`, or a resume, the system may still boot.
             * @enum {string}
             */
            status: "provisioning" | "installing" | "running" | "stopped" | "suspended" | "destroying";
            plan: string;
            region: string;
            image: string;
            /**
             * @description Your image in the drive for ISO images; see PUT /servers/{id}/iso.
             * @example custom_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            iso: string | null;
            /**
             * @description What boots first, from the next start or reboot on. `iso` needs an ISO image in the drive. It becomes `disk` when the image is ejected, and after a rebuild or restore.
             * @enum {string}
             */
            boot: "disk" | "iso";
            /** @description GiB. A resize may leave it below or above the disk of the plan. */
            disk_gb: number;
            ipv4: {
                /** @example 203.0.113.10 */
                address: string;
                /** @example 203.0.113.1 */
                gateway: string;
                /**
                 * @description Reverse DNS host name.
                 * @example web.example.org
                 */
                rdns: string | null;
            } | null;
            ipv6: {
                /**
                 * @description The server’s address, `…::1`.
                 * @example 2001:db8:0:1::1
                 */
                address: string;
                /**
                 * @description The routed /64 as a CIDR.
                 * @example 2001:db8:0:1::/64
                 */
                prefix: string;
                /**
                 * @description Reverse DNS host name.
                 * @example web.example.org
                 */
                rdns: string | null;
                /** @description Reverse DNS in the /64: address → host name. */
                rdns_records: {
                    [key: string]: string;
                };
            } | null;
            ssh_keys: string[];
            tags: string[];
            labels: {
                [key: string]: string;
            };
            protection: {
                /** @description Refuses DELETE with 409. */
                delete: boolean;
                /** @description Refuses rebuild and restore with 409. */
                rebuild: boolean;
            };
            billing_months: number;
            /** @description Whether the next cycle is charged when this one ends. */
            auto_renew: boolean;
            /**
             * Format: date-time
             * @description End of the current cycle.
             * @example 2026-01-31T12:00:00Z
             */
            paid_until: string;
            /** @description Price of the current cycle, backups included. The next cycle costs the same, unless a new price was announced 30 days before it. */
            price_usd_cycle: number;
            /**
             * @description `balance`: the balance did not cover the next cycle; it resumes automatically once it does. `not_renewed`: it was set not to renew; start it to resume. `operator`: frozen by the operator. `negative_balance`: a reversed payment left the balance negative; it resumes automatically at zero or more. After a grace period, with warnings by email, it is deleted.
             * @enum {string|null}
             */
            suspended_reason: "balance" | "not_renewed" | "operator" | "negative_balance" | null;
            /** @description What runs on it. In the response that began it, it may have ended. */
            action: {
                /** @example act_aaaqk3m7qzb5x2l6v4t7n8wyja */
                id: string;
                /** @example server.create */
                command: string;
                /** @enum {string} */
                status: "running" | "success" | "error";
                progress: number;
            } | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            updated_at: string;
        };
        RescuedServer: {
            /**
             * @description Opaque.
             * @example srv_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "server";
            name: string;
            /**
             * @description `running`: powered on. After an install, rebuild, or restore, SSH has answered once, or the server ran for ten minutes without it. After `start`, `reboot`, or a resume, the system may still boot.
             * @enum {string}
             */
            status: "provisioning" | "installing" | "running" | "stopped" | "suspended" | "destroying";
            plan: string;
            region: string;
            image: string;
            /**
             * @description Your image in the drive for ISO images; see PUT /servers/{id}/iso.
             * @example custom_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            iso: string | null;
            /**
             * @description What boots first, from the next start or reboot on. `iso` needs an ISO image in the drive. It becomes `disk` when the image is ejected, and after a rebuild or restore.
             * @enum {string}
             */
            boot: "disk" | "iso";
            /** @description GiB. A resize may leave it below or above the disk of the plan. */
            disk_gb: number;
            ipv4: {
                /** @example 203.0.113.10 */
                address: string;
                /** @example 203.0.113.1 */
                gateway: string;
                /**
                 * @description Reverse DNS host name.
                 * @example web.example.org
                 */
                rdns: string | null;
            } | null;
            ipv6: {
                /**
                 * @description The server’s address, `…::1`.
                 * @example 2001:db8:0:1::1
                 */
                address: string;
                /**
                 * @description The routed /64 as a CIDR.
                 * @example 2001:db8:0:1::/64
                 */
                prefix: string;
                /**
                 * @description Reverse DNS host name.
                 * @example web.example.org
                 */
                rdns: string | null;
                /** @description Reverse DNS in the /64: address → host name. */
                rdns_records: {
                    [key: string]: string;
                };
            } | null;
            ssh_keys: string[];
            tags: string[];
            labels: {
                [key: string]: string;
            };
            protection: {
                /** @description Refuses DELETE with 409. */
                delete: boolean;
                /** @description Refuses rebuild and restore with 409. */
                rebuild: boolean;
            };
            billing_months: number;
            /** @description Whether the next cycle is charged when this one ends. */
            auto_renew: boolean;
            /**
             * Format: date-time
             * @description End of the current cycle.
             * @example 2026-01-31T12:00:00Z
             */
            paid_until: string;
            /** @description Price of the current cycle, backups included. The next cycle costs the same, unless a new price was announced 30 days before it. */
            price_usd_cycle: number;
            /**
             * @description `balance`: the balance did not cover the next cycle; it resumes automatically once it does. `not_renewed`: it was set not to renew; start it to resume. `operator`: frozen by the operator. `negative_balance`: a reversed payment left the balance negative; it resumes automatically at zero or more. After a grace period, with warnings by email, it is deleted.
             * @enum {string|null}
             */
            suspended_reason: "balance" | "not_renewed" | "operator" | "negative_balance" | null;
            /** @description What runs on it. In the response that began it, it may have ended. */
            action: {
                /** @example act_aaaqk3m7qzb5x2l6v4t7n8wyja */
                id: string;
                /** @example server.create */
                command: string;
                /** @enum {string} */
                status: "running" | "success" | "error";
                progress: number;
            } | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            updated_at: string;
            rescue: {
                /** @constant */
                username: "root";
                /** @description Shown only once. Valid until the next restart. */
                password: string;
            };
        };
        DeletedServer: {
            /**
             * @description Opaque.
             * @example srv_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "server";
            name: string;
            /**
             * @description `running`: powered on. After an install, rebuild, or restore, SSH has answered once, or the server ran for ten minutes without it. After `start`, `reboot`, or a resume, the system may still boot.
             * @enum {string}
             */
            status: "provisioning" | "installing" | "running" | "stopped" | "suspended" | "destroying";
            plan: string;
            region: string;
            image: string;
            /**
             * @description Your image in the drive for ISO images; see PUT /servers/{id}/iso.
             * @example custom_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            iso: string | null;
            /**
             * @description What boots first, from the next start or reboot on. `iso` needs an ISO image in the drive. It becomes `disk` when the image is ejected, and after a rebuild or restore.
             * @enum {string}
             */
            boot: "disk" | "iso";
            /** @description GiB. A resize may leave it below or above the disk of the plan. */
            disk_gb: number;
            ipv4: {
                /** @example 203.0.113.10 */
                address: string;
                /** @example 203.0.113.1 */
                gateway: string;
                /**
                 * @description Reverse DNS host name.
                 * @example web.example.org
                 */
                rdns: string | null;
            } | null;
            ipv6: {
                /**
                 * @description The server’s address, `…::1`.
                 * @example 2001:db8:0:1::1
                 */
                address: string;
                /**
                 * @description The routed /64 as a CIDR.
                 * @example 2001:db8:0:1::/64
                 */
                prefix: string;
                /**
                 * @description Reverse DNS host name.
                 * @example web.example.org
                 */
                rdns: string | null;
                /** @description Reverse DNS in the /64: address → host name. */
                rdns_records: {
                    [key: string]: string;
                };
            } | null;
            ssh_keys: string[];
            tags: string[];
            labels: {
                [key: string]: string;
            };
            protection: {
                /** @description Refuses DELETE with 409. */
                delete: boolean;
                /** @description Refuses rebuild and restore with 409. */
                rebuild: boolean;
            };
            billing_months: number;
            /** @description Whether the next cycle is charged when this one ends. */
            auto_renew: boolean;
            /**
             * Format: date-time
             * @description End of the current cycle.
             * @example 2026-01-31T12:00:00Z
             */
            paid_until: string;
            /** @description Price of the current cycle, backups included. The next cycle costs the same, unless a new price was announced 30 days before it. */
            price_usd_cycle: number;
            /**
             * @description `balance`: the balance did not cover the next cycle; it resumes automatically once it does. `not_renewed`: it was set not to renew; start it to resume. `operator`: frozen by the operator. `negative_balance`: a reversed payment left the balance negative; it resumes automatically at zero or more. After a grace period, with warnings by email, it is deleted.
             * @enum {string|null}
             */
            suspended_reason: "balance" | "not_renewed" | "operator" | "negative_balance" | null;
            /** @description What runs on it. In the response that began it, it may have ended. */
            action: {
                /** @example act_aaaqk3m7qzb5x2l6v4t7n8wyja */
                id: string;
                /** @example server.create */
                command: string;
                /** @enum {string} */
                status: "running" | "success" | "error";
                progress: number;
            } | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            updated_at: string;
            /** @description What came back to your balance. 0 if nothing did. */
            refund_usd: number;
        };
        Metrics: {
            /** @constant */
            object: "metrics";
            /**
             * @description Opaque.
             * @example srv_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            server: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            start: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            end: string;
            /** @enum {integer} */
            step_s: 60 | 300 | 3600;
            series: {
                /** @description Percent of all CPUs. */
                cpu_pct: number[][];
                /** @description MiB in use, without caches; without a virtio-balloon driver, host memory. */
                ram_mb: number[][];
                /** @description Bytes/s. */
                disk_read_bps: number[][];
                /** @description Bytes/s. */
                disk_write_bps: number[][];
                /** @description Bytes/s. */
                net_in_bps: number[][];
                /** @description Bytes/s. */
                net_out_bps: number[][];
            };
        };
        Console: {
            /** @constant */
            object: "console";
            /**
             * Format: uri
             * @description A page with the screen of the server. It needs no sign-in: do not share it. Its query parameter `path` is the WebSocket (RFB) for other viewers. The first connection uses it up.
             * @example https://skerry.example/console?path=console%2Fsocket%2F3mfq7kzd
             */
            url: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            expires_at: string;
            /** @description Ignores keyboard and pointer input. */
            read_only: boolean;
        };
        Alert: {
            /**
             * @description Opaque.
             * @example alr_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "alert";
            /** @description Need not be unique. */
            name: string;
            /**
             * @description `cpu_pct`, `ram_pct`: percent of CPUs and memory. `disk_write_bps`, `net_out_bps`: bytes per second. `transfer_pct`: percent of the plan’s monthly transfer. `unreachable`: the server should run, and we do not see its machine running.
             * @enum {string}
             */
            metric: "cpu_pct" | "ram_pct" | "disk_write_bps" | "net_out_bps" | "transfer_pct" | "unreachable";
            /**
             * @description Null for `unreachable`.
             * @enum {string|null}
             */
            compare: "gt" | "lt" | null;
            /** @description In the unit of the metric. Null for `unreachable`. */
            value: number | null;
            /**
             * @description The alert fires when every minute of the last 5, 10, 30, or 60 minutes meets the condition.
             * @enum {string}
             */
            window: "5m" | "10m" | "30m" | "1h";
            /** @description Ids of servers. A deleted server is removed. Null if labels select the servers. */
            servers: string[] | null;
            /**
             * @description The labels of the servers, empty for all; null if `servers` lists them.
             * @example env=prod
             */
            label_selector: string | null;
            enabled: boolean;
            /** @description The servers for which the alert fires now. */
            firing: {
                /**
                 * @description Opaque.
                 * @example srv_aaaqk3m7qzb5x2l6v4t7n8wyja
                 */
                server: string;
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00Z
                 */
                since: string;
            }[];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        ListedTicket: {
            /**
             * @description Opaque.
             * @example tkt_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "ticket";
            subject: string;
            /**
             * @description `open`: we answer next. `answered`: we answered. `closed`: a reply opens it again.
             * @enum {string}
             */
            status: "open" | "answered" | "closed";
            /**
             * @description `abuse`: we opened it, because of a report of abuse about one of your servers.
             * @enum {string}
             */
            category: "general" | "abuse";
            /**
             * Format: date-time
             * @description By when we ask you to answer; null: any time.
             */
            answer_by: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            updated_at: string;
            /** Format: date-time */
            closed_at: string | null;
        };
        Ticket: {
            /**
             * @description Opaque.
             * @example tkt_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "ticket";
            subject: string;
            /**
             * @description `open`: we answer next. `answered`: we answered. `closed`: a reply opens it again.
             * @enum {string}
             */
            status: "open" | "answered" | "closed";
            /**
             * @description `abuse`: we opened it, because of a report of abuse about one of your servers.
             * @enum {string}
             */
            category: "general" | "abuse";
            /**
             * Format: date-time
             * @description By when we ask you to answer; null: any time.
             */
            answer_by: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            updated_at: string;
            /** Format: date-time */
            closed_at: string | null;
            /** @description Oldest first. */
            messages: {
                /**
                 * @description Opaque.
                 * @example tme_aaaqk3m7qzb5x2l6v4t7n8wyja
                 */
                id: string;
                /** @enum {string} */
                author: "customer" | "staff";
                /** @description Plain text. */
                text: string;
                /** @description Download them in the panel, where you also attach yours. */
                files: {
                    /**
                     * @description Opaque.
                     * @example tfl_aaaqk3m7qzb5x2l6v4t7n8wyja
                     */
                    id: string;
                    name: string;
                    /** @enum {string} */
                    type: "image/png" | "image/jpeg" | "text/plain" | "application/pdf" | "message/rfc822" | "application/vnd.tcpdump.pcap";
                    size_bytes: number;
                }[];
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00Z
                 */
                created_at: string;
            }[];
        };
        Snapshot: {
            /**
             * @description Opaque.
             * @example snap_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "snapshot";
            /** @description Id of the source server, which may be deleted by now. */
            server: string;
            region: string;
            name: string;
            /** @description GiB after deduplication; 0 until ready. */
            size_gb: number;
            /** @enum {string} */
            status: "creating" | "ready" | "error";
            /**
             * @description Backups are created on the schedule of their server.
             * @enum {string}
             */
            type: "manual" | "backup";
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it is deleted automatically; null: never. A protected snapshot stays, and is deleted once its protection is lifted.
             * @example 2026-01-31T12:00:00Z
             */
            expires_at: string | null;
            protection: {
                /** @description Refuses DELETE with 409. */
                delete: boolean;
            };
            /** @description What runs on it. In the response that began it, it may have ended. */
            action: {
                /** @example act_aaaqk3m7qzb5x2l6v4t7n8wyja */
                id: string;
                /** @example server.create */
                command: string;
                /** @enum {string} */
                status: "running" | "success" | "error";
                progress: number;
            } | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        BackupPolicy: {
            /** @constant */
            object: "backup_policy";
            /** @description Id of the server. */
            server: string;
            enabled: boolean;
            /** @enum {string} */
            every: "day" | "week";
            /**
             * @description Only for weekly backups.
             * @enum {string|null}
             */
            weekday: "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | null;
            /** @description A backup starts within this hour of the day, in UTC. */
            hour_utc: number;
            /** @description Number of backups. The oldest is deleted when a new one is ready. */
            keep: number;
            /** @description The hour in which the next backup starts; null while disabled. */
            window: {
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00Z
                 */
                start: string;
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00Z
                 */
                end: string;
            } | null;
            /** @description Price of backups per cycle, a part of `price_usd_cycle` of the server. While disabled, the price that they would have. 0: they are free. */
            price_usd_cycle: number;
            /** @description The amount that enabling them now would charge, for the rest of the cycle. 0 while enabled. Rounding may raise it by a cent from one moment to the next. */
            price_usd_now: number;
            /** @description How the last backup ended. `missed`: it could not start in its hour. */
            last: {
                /** @enum {string} */
                status: "success" | "error" | "missed";
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00Z
                 */
                at: string;
            } | null;
        };
        Image: {
            /** @description Opaque: `img_…` is official, `custom_…` is uploaded. */
            id: string;
            /** @constant */
            object: "image";
            /** @enum {string} */
            type: "official" | "custom";
            /** @description Name of an uploaded image, if set. */
            name: string | null;
            /**
             * @description `custom` for uploads.
             * @example debian
             */
            family: string;
            version: string;
            variant: string | null;
            arch: ("amd64" | "arm64")[];
            /** @description GiB on disk. */
            size_gb: number;
            /** @description Whether it accepts user data. */
            cloud_init: boolean;
            /**
             * Format: date
             * @example 2025-08-09
             */
            released_at: string;
            /**
             * Format: date
             * @description If set, new servers cannot use it, and it is removed 90 days after this date.
             */
            deprecated_at: string | null;
            /** @description What runs on it. In the response that began it, it may have ended. */
            action: {
                /** @example act_aaaqk3m7qzb5x2l6v4t7n8wyja */
                id: string;
                /** @example server.create */
                command: string;
                /** @enum {string} */
                status: "running" | "success" | "error";
                progress: number;
            } | null;
        };
        Plan: {
            /** @example s1 */
            id: string;
            /** @constant */
            object: "plan";
            /** @enum {string} */
            category: "vps" | "dedicated";
            /** @description vCPUs (vps) or physical cores (dedicated). */
            cpu: number;
            cpu_model: string;
            /** @description MiB. */
            ram_mb: number;
            /** @description NVMe GiB. */
            disk_gb: number;
            /** @description Outbound TiB per month; inbound traffic is not metered. */
            transfer_tb: number;
            /** @description US dollars, two decimals. */
            price_usd_month: number;
            /** @description Price per month / 730, two decimals. For comparison only. */
            price_usd_hour: number;
            /**
             * @description Price per hour with eight decimals.
             * @example 0.01006849
             */
            price_usd_hour_exact: string;
            /** @description Price of an order for each cycle, charged now, to the cent. */
            cycles: components["schemas"]["PlanCycle"][];
            /** @description The price of backups, in percent of the price of the plan for each cycle, rounded up to the cent. 0: they are free. */
            backup_percent: number;
            /** @description Regions where you can deploy it right now. */
            available_in: string[];
        };
        /**
         * @example {
         *       "billing_months": 3,
         *       "discount_percent": 25,
         *       "price_usd": 16.54
         *     }
         */
        PlanCycle: {
            /** @enum {integer} */
            billing_months: 1 | 3 | 6 | 12;
            discount_percent: number;
            /** @description US dollars for all months, discounted and rounded. */
            price_usd: number;
        };
        Region: {
            /** @example par */
            id: string;
            /** @constant */
            object: "region";
            name: string;
            /**
             * @description ISO 3166-1 alpha-2.
             * @example FR
             */
            country: string;
            pop_id: string;
            /** @description Whether you can deploy at least one plan right now. */
            available: boolean;
            /** @description Free IPv4 addresses; below 50, deployments may stall. */
            ipv4_pool_remaining: number;
            tor_onion: string | null;
        };
        SshKey: {
            /**
             * @description Opaque.
             * @example k_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "ssh_key";
            name: string;
            /** @enum {string} */
            type: "ssh-ed25519" | "ssh-rsa" | "ecdsa-sha2-nistp256" | "ecdsa-sha2-nistp384" | "ecdsa-sha2-nistp521";
            /** @example SHA256:uB4zBd9YfqL5Yh1L5kpSaw2x0Gm1cVtKZ0mJk7PqWfs */
            fingerprint: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /** @description OpenSSH format. Lists omit it. */
            public_key: string;
        };
        ListedSshKey: {
            /**
             * @description Opaque.
             * @example k_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "ssh_key";
            name: string;
            /** @enum {string} */
            type: "ssh-ed25519" | "ssh-rsa" | "ecdsa-sha2-nistp256" | "ecdsa-sha2-nistp384" | "ecdsa-sha2-nistp521";
            /** @example SHA256:uB4zBd9YfqL5Yh1L5kpSaw2x0Gm1cVtKZ0mJk7PqWfs */
            fingerprint: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        Volume: {
            /**
             * @description Opaque.
             * @example vol_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "volume";
            name: string;
            /** @description GiB. Can be increased online, never decreased. */
            size_gb: number;
            /** @description Region of the servers that it can be attached to. */
            region: string;
            /** @description Id of a server; null when detached. */
            attached_to: string | null;
            /**
             * @description Path of the block device while attached.
             * @example /dev/vdb
             */
            device: string | null;
            /** @description Volume-level LUKS. The key is yours, and reaches the server through cloud-init. Fixed at creation. */
            encrypted: boolean;
            /**
             * @description For your own records: we do not format volumes.
             * @example ext4
             */
            filesystem: string | null;
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When the machine was lost that had its data. A lost volume can only be deleted.
             */
            lost_at: string | null;
            protection: {
                /** @description Refuses DELETE with 409. */
                delete: boolean;
            };
            /** @description What runs on it. In the response that began it, it may have ended. */
            action: {
                /** @example act_aaaqk3m7qzb5x2l6v4t7n8wyja */
                id: string;
                /** @example server.create */
                command: string;
                /** @enum {string} */
                status: "running" | "success" | "error";
                progress: number;
            } | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        FirewallGroup: {
            /**
             * @description Opaque.
             * @example fwg_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "firewall_group";
            name: string;
            /** @description Ids of the servers that the group applies to. */
            applied_to: string[];
            /** @description In order: the first match wins. */
            rules: components["schemas"]["FirewallRule"][];
            /**
             * @description Action for packets that match no rule: always for inbound traffic, and for outbound traffic once an applied group has an `out` rule. `drop` is recommended, and wins if groups differ.
             * @enum {string}
             */
            default_action: "drop" | "accept";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        FirewallRule: {
            /**
             * @description Opaque.
             * @example fwr_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @enum {string} */
            direction: "in" | "out";
            /** @enum {string} */
            proto: "tcp" | "udp" | "icmp" | "any";
            /**
             * @description One port, a comma-separated list, or a range `<low>-<high>`; null: every port. Only with tcp and udp.
             * @example 443
             * @example 80,443
             * @example 8000-8999
             */
            port: string | null;
            /**
             * @description CIDR of the remote address: the source of inbound and the destination of outbound traffic. An IPv4 CIDR never matches IPv6.
             * @example 203.0.113.0/24
             * @example 0.0.0.0/0
             * @example ::/0
             */
            source: string;
            /**
             * @description `reject` responds with RST or ICMP unreachable.
             * @enum {string}
             */
            action: "accept" | "drop" | "reject";
            note: string | null;
        };
        Balance: {
            /** @constant */
            object: "balance";
            /** @description US dollars, two decimals. */
            usd: number;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            as_of: string;
            /**
             * Format: date
             * @description The earliest end of a prepaid cycle among running servers; null if none is running.
             * @example 2026-02-28
             */
            runway_until: string | null;
            /** @description Running servers in a prepaid cycle. */
            active_servers: number;
            /** @description Daily cost of the running servers, for comparison. Nothing is charged daily. */
            daily_cost_usd: number;
            /**
             * Format: date-time
             * @description When the low-balance warning is sent: 7 days before the runway ends.
             */
            low_balance_at: string | null;
        };
        LedgerEntry: {
            /**
             * @description Opaque.
             * @example led_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "ledger_entry";
            /** @enum {string} */
            type: "charge" | "topup" | "bonus" | "refund" | "adjustment" | "reversal";
            /** @description US dollars, two decimals. */
            amount_usd: number;
            /** @description US dollars, two decimals. */
            balance_after_usd: number;
            resource: string | null;
            description: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        Topup: {
            /**
             * @description Opaque.
             * @example top_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "topup";
            /** @enum {string} */
            status: "pending" | "confirming" | "credited" | "expired";
            /** @enum {string} */
            coin: "BTC" | "XMR" | "ETH" | "USDT" | "USDTTRC" | "LTC" | "TRX" | "SOL";
            /** @description A payment on another network is lost. */
            network: string;
            /** @description US dollars, two decimals. */
            amount_usd: number;
            /** @description The bonus for `amount_usd`; after a credit, the bonus paid. */
            bonus_usd: number;
            deposit_address: string;
            /**
             * @description In whole coins, decimal.
             * @example 0.002
             */
            deposit_amount: string;
            /** @description For wallets; on some networks only the address. */
            payment_uri: string;
            /** @description The locked rate: US dollars for one whole coin, decimal. */
            rate_usd: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            expires_at: string;
            /** @description Confirmations of the least confirmed payment. */
            confirmations: number;
            required_confirmations: number;
            /** @description Transactions that pay the invoice, oldest first; at most 100. */
            txids: string[];
            /** @description The amount credited to the balance, without the bonus. */
            credited_usd: number;
            /** @description The amount, bonus included, that was taken back because a payment left the chain and that has not been credited again. */
            reversed_usd: number;
            /** @description Whether the payment is confirmed but withheld by the operator. */
            credit_held: boolean;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        Quote: {
            /**
             * @description Opaque.
             * @example quo_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "quote";
            /** @enum {string} */
            operation: "server.create" | "server.start" | "server.resize" | "server.delete";
            /** @description Whether the operation is possible now, for a token with the scope that it requires. */
            available: boolean;
            /** @description `errors` of the response that the request would get. Empty if it would succeed. */
            errors: ({
                field: string;
                /** @enum {string} */
                issue: "required" | "unknown_key" | "invalid_type" | "invalid_format" | "invalid_value" | "min_items" | "max_items" | "min_length" | "max_length" | "min" | "max" | "not_found" | "unavailable" | "insufficient_balance" | "limit_reached" | "protected" | "price_changed" | "mismatch" | "wrong_state" | "in_use" | "not_allowed";
            } & {
                [key: string]: unknown;
            })[];
            /** @description `code` and `message` of that response. Null if the request would succeed. */
            refusal: {
                /** @enum {string} */
                code: "invalid_request" | "unauthenticated" | "forbidden_scope" | "not_found" | "conflict_state" | "unprocessable" | "rate_limited" | "jurisdictional_block" | "internal" | "maintenance";
                message: string;
            } | null;
            /** @description The parts of the price. One entry of the ledger charges a server and its backups. */
            lines: {
                /** @example s1 in par, 3 months */
                description: string;
                /** @description Negative for an amount that comes back to your balance. */
                amount_usd: number;
            }[];
            /** @description The sum of all charges. Null if there is no price, as for an unknown plan. */
            total_usd: number | null;
            /** @description The amount that comes back to your balance. */
            credit_usd: number | null;
            /** @description The amount that is charged now: `total_usd` less `credit_usd`, but at least 0. */
            due_now_usd: number | null;
            /** @description The price of the next cycle. Null if the server does not renew. */
            renews_usd: number | null;
            /**
             * Format: date-time
             * @description When the next cycle is charged.
             * @example 2026-01-31T12:00:00Z
             */
            renews_at: string | null;
            /**
             * Format: date-time
             * @description Until when the server is then paid.
             * @example 2026-01-31T12:00:00Z
             */
            cycle_ends_at: string | null;
            /** @description Your balance after the operation; negative if it is too low. Null for a token whose scope is not `billing`. */
            balance_after_usd: number | null;
            /** @description The amount that your balance is short by. Null for a token whose scope is not `billing`. */
            deficit_usd: number | null;
            /** @description The smallest top-up that covers the deficit with its bonus, and first your servers that are suspended for insufficient balance; at most 10000. Null if nothing is missing, and for a token whose scope is not `billing`. */
            topup: {
                /** @description US dollars, two decimals. */
                amount_usd: number;
                /** @description US dollars, two decimals. */
                bonus_usd: number;
            } | null;
            /**
             * Format: date-time
             * @description Until when you can send the id with the request.
             * @example 2026-01-31T12:00:00Z
             */
            expires_at: string;
        };
        Account: {
            /**
             * @description Opaque.
             * @example cus_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "account";
            /**
             * @description `frozen` by the operator: you can read, but not change anything.
             * @enum {string}
             */
            status: "active" | "frozen";
            /** @description Null for a token whose scope is not `billing`. */
            email: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /** @description The token of the request. */
            token: {
                /**
                 * @description Opaque.
                 * @example tok_aaaqk3m7qzb5x2l6v4t7n8wyja
                 */
                id: string;
                name: string;
                /** @enum {string} */
                scope: "read" | "write" | "billing";
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00Z
                 */
                expires_at: string | null;
                limits: {
                    /**
                     * @description Networks that may use it. Stored sealed, and left out of events.
                     * @example [
                     *       "203.0.113.0/24"
                     *     ]
                     */
                    ip_cidrs?: string[] | null;
                    /**
                     * @description Operations that it may run. A new operation of the API is not among them.
                     * @example [
                     *       "servers.list",
                     *       "servers.create"
                     *     ]
                     */
                    operations: string[] | null;
                    /**
                     * @description Servers, volumes, snapshots, custom images, SSH keys, and firewall groups that it can reach.
                     * @example [
                     *       "srv_aaaqk3m7qzb5x2l6v4t7n8wyja"
                     *     ]
                     */
                    resources: string[] | null;
                    /**
                     * @description It can also reach servers, volumes, and snapshots with all of these labels.
                     * @example env=ci
                     */
                    label_selector: string | null;
                    /**
                     * @description Regions whose servers, volumes, and snapshots it can reach.
                     * @example [
                     *       "par"
                     *     ]
                     */
                    regions: string[] | null;
                    /** @description The most that it and the tokens that it created may spend, in US dollars. Renewals do not count. */
                    spend_usd: number | null;
                    /**
                     * @description Whether `spend_usd` is for the lifetime of the token, or for each calendar month in UTC.
                     * @enum {string}
                     */
                    spend_period: "total" | "month";
                    /** @description The number of existing servers that it and the tokens that it created have created. */
                    max_servers: number | null;
                } | null;
            };
        };
        Limit: {
            /** @constant */
            object: "limit";
            /** @example servers */
            name: string;
            /** @description Above it, a request gets 422 with the issue `limit_reached`. */
            limit: number;
            /** @description How much of it you use now. Null for a limit per server, for top-ups if the scope of the token is not `billing`, and for a token limited to resources, labels, or regions. */
            used: number | null;
            /** @enum {string} */
            per: "account" | "server" | "region";
        };
        ApiToken: {
            /**
             * @description Opaque.
             * @example tok_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "api_token";
            name: string;
            /** @enum {string} */
            scope: "read" | "write" | "billing";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            expires_at: string | null;
            /**
             * @description The token that created it, and with which it is revoked; null if a person did.
             * @example tok_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            created_by_token: string | null;
            limits: {
                /**
                 * @description Networks that may use it. Stored sealed, and left out of events.
                 * @example [
                 *       "203.0.113.0/24"
                 *     ]
                 */
                ip_cidrs?: string[] | null;
                /**
                 * @description Operations that it may run. A new operation of the API is not among them.
                 * @example [
                 *       "servers.list",
                 *       "servers.create"
                 *     ]
                 */
                operations: string[] | null;
                /**
                 * @description Servers, volumes, snapshots, custom images, SSH keys, and firewall groups that it can reach.
                 * @example [
                 *       "srv_aaaqk3m7qzb5x2l6v4t7n8wyja"
                 *     ]
                 */
                resources: string[] | null;
                /**
                 * @description It can also reach servers, volumes, and snapshots with all of these labels.
                 * @example env=ci
                 */
                label_selector: string | null;
                /**
                 * @description Regions whose servers, volumes, and snapshots it can reach.
                 * @example [
                 *       "par"
                 *     ]
                 */
                regions: string[] | null;
                /** @description The most that it and the tokens that it created may spend, in US dollars. Renewals do not count. */
                spend_usd: number | null;
                /**
                 * @description Whether `spend_usd` is for the lifetime of the token, or for each calendar month in UTC.
                 * @enum {string}
                 */
                spend_period: "total" | "month";
                /** @description The number of existing servers that it and the tokens that it created have created. */
                max_servers: number | null;
            } | null;
            /** @description Spent since its creation, or in this month. Null without limits. */
            spent_usd: number | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        CreatedApiToken: {
            /**
             * @description Opaque.
             * @example tok_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "api_token";
            name: string;
            /** @enum {string} */
            scope: "read" | "write" | "billing";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            expires_at: string | null;
            /**
             * @description The token that created it, and with which it is revoked; null if a person did.
             * @example tok_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            created_by_token: string | null;
            limits: {
                /**
                 * @description Networks that may use it. Stored sealed, and left out of events.
                 * @example [
                 *       "203.0.113.0/24"
                 *     ]
                 */
                ip_cidrs?: string[] | null;
                /**
                 * @description Operations that it may run. A new operation of the API is not among them.
                 * @example [
                 *       "servers.list",
                 *       "servers.create"
                 *     ]
                 */
                operations: string[] | null;
                /**
                 * @description Servers, volumes, snapshots, custom images, SSH keys, and firewall groups that it can reach.
                 * @example [
                 *       "srv_aaaqk3m7qzb5x2l6v4t7n8wyja"
                 *     ]
                 */
                resources: string[] | null;
                /**
                 * @description It can also reach servers, volumes, and snapshots with all of these labels.
                 * @example env=ci
                 */
                label_selector: string | null;
                /**
                 * @description Regions whose servers, volumes, and snapshots it can reach.
                 * @example [
                 *       "par"
                 *     ]
                 */
                regions: string[] | null;
                /** @description The most that it and the tokens that it created may spend, in US dollars. Renewals do not count. */
                spend_usd: number | null;
                /**
                 * @description Whether `spend_usd` is for the lifetime of the token, or for each calendar month in UTC.
                 * @enum {string}
                 */
                spend_period: "total" | "month";
                /** @description The number of existing servers that it and the tokens that it created have created. */
                max_servers: number | null;
            } | null;
            /** @description Spent since its creation, or in this month. Null without limits. */
            spent_usd: number | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /** @description The plaintext, `<prefix>_live_<52 chars>`. Shown only once. */
            token: string;
        };
        Webhook: {
            /**
             * @description Opaque.
             * @example whk_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "webhook";
            /** @example https://example.com/hooks */
            url: string;
            events: ("server.created" | "server.running" | "server.stopped" | "server.rebooted" | "server.rebuilt" | "server.resized" | "server.iso_inserted" | "server.iso_ejected" | "server.suspended" | "server.lost" | "server.destroyed" | "snapshot.ready" | "snapshot.failed" | "backup.failed" | "volume.attached" | "volume.detached" | "volume.lost" | "topup.pending" | "topup.confirmed" | "topup.expired" | "topup.reversed" | "billing.charged" | "billing.low_balance" | "token.created" | "token.updated" | "token.revoked" | "firewall.applied" | "action.success" | "action.error" | "alert.fired" | "alert.resolved" | "*")[];
            /** @description False pauses deliveries. */
            active: boolean;
            /**
             * @description Why we paused it: its endpoint returned 410, access to the account was revoked (recovery, reset), or our team did. Null while it is active, or if you paused it.
             * @enum {string|null}
             */
            paused_reason: "endpoint_gone" | "access_revoked" | "operator" | null;
            /**
             * @description The scope of its creator: only a webhook with scope `billing` receives money events.
             * @enum {string}
             */
            scope: "read" | "write" | "billing";
            /** @description The last four characters of the signing secret. */
            secret_hint: string;
            /** @description The last four characters of the secret that replaces it. Null: it is not being rotated. */
            next_secret_hint: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        CreatedWebhook: {
            /**
             * @description Opaque.
             * @example whk_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "webhook";
            /** @example https://example.com/hooks */
            url: string;
            events: ("server.created" | "server.running" | "server.stopped" | "server.rebooted" | "server.rebuilt" | "server.resized" | "server.iso_inserted" | "server.iso_ejected" | "server.suspended" | "server.lost" | "server.destroyed" | "snapshot.ready" | "snapshot.failed" | "backup.failed" | "volume.attached" | "volume.detached" | "volume.lost" | "topup.pending" | "topup.confirmed" | "topup.expired" | "topup.reversed" | "billing.charged" | "billing.low_balance" | "token.created" | "token.updated" | "token.revoked" | "firewall.applied" | "action.success" | "action.error" | "alert.fired" | "alert.resolved" | "*")[];
            /** @description False pauses deliveries. */
            active: boolean;
            /**
             * @description Why we paused it: its endpoint returned 410, access to the account was revoked (recovery, reset), or our team did. Null while it is active, or if you paused it.
             * @enum {string|null}
             */
            paused_reason: "endpoint_gone" | "access_revoked" | "operator" | null;
            /**
             * @description The scope of its creator: only a webhook with scope `billing` receives money events.
             * @enum {string}
             */
            scope: "read" | "write" | "billing";
            /** @description The last four characters of the signing secret. */
            secret_hint: string;
            /** @description The last four characters of the secret that replaces it. Null: it is not being rotated. */
            next_secret_hint: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /**
             * @description The signing secret, only in this response. The HMAC key is this entire text.
             * @example whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
             */
            secret: string;
        };
        RotatedWebhook: {
            /**
             * @description Opaque.
             * @example whk_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "webhook";
            /** @example https://example.com/hooks */
            url: string;
            events: ("server.created" | "server.running" | "server.stopped" | "server.rebooted" | "server.rebuilt" | "server.resized" | "server.iso_inserted" | "server.iso_ejected" | "server.suspended" | "server.lost" | "server.destroyed" | "snapshot.ready" | "snapshot.failed" | "backup.failed" | "volume.attached" | "volume.detached" | "volume.lost" | "topup.pending" | "topup.confirmed" | "topup.expired" | "topup.reversed" | "billing.charged" | "billing.low_balance" | "token.created" | "token.updated" | "token.revoked" | "firewall.applied" | "action.success" | "action.error" | "alert.fired" | "alert.resolved" | "*")[];
            /** @description False pauses deliveries. */
            active: boolean;
            /**
             * @description Why we paused it: its endpoint returned 410, access to the account was revoked (recovery, reset), or our team did. Null while it is active, or if you paused it.
             * @enum {string|null}
             */
            paused_reason: "endpoint_gone" | "access_revoked" | "operator" | null;
            /**
             * @description The scope of its creator: only a webhook with scope `billing` receives money events.
             * @enum {string}
             */
            scope: "read" | "write" | "billing";
            /** @description The last four characters of the signing secret. */
            secret_hint: string;
            /** @description The last four characters of the secret that replaces it. Null: it is not being rotated. */
            next_secret_hint: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /**
             * @description The next signing secret, only in this response. It signs X-Service-Signature-Next.
             * @example whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
             */
            next_secret: string;
        };
        WebhookDelivery: {
            /**
             * @description Same as X-Service-Delivery-Id: one id for all attempts of a delivery. Opaque.
             * @example del_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "webhook_delivery";
            /**
             * @description Opaque.
             * @example evt_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            event: string;
            /** @enum {string} */
            event_type: "server.created" | "server.running" | "server.stopped" | "server.rebooted" | "server.rebuilt" | "server.resized" | "server.iso_inserted" | "server.iso_ejected" | "server.suspended" | "server.lost" | "server.destroyed" | "snapshot.ready" | "snapshot.failed" | "backup.failed" | "volume.attached" | "volume.detached" | "volume.lost" | "topup.pending" | "topup.confirmed" | "topup.expired" | "topup.reversed" | "billing.charged" | "billing.low_balance" | "token.created" | "token.updated" | "token.revoked" | "firewall.applied" | "action.success" | "action.error" | "alert.fired" | "alert.resolved" | "ping";
            /** @description Starts at 1. */
            attempt: number;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed" | "cancelled";
            /** @description Status of the response. */
            http_status: number | null;
            /** @description Why there was no response. */
            error: string | null;
            duration_ms: number | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            attempted_at: string | null;
            /**
             * Format: date-time
             * @description When the next attempt is due; null if none is.
             */
            next_attempt_at: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        AuditEvent: {
            /**
             * @description Opaque.
             * @example audit_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "audit_event";
            /**
             * @description Dotted operation name.
             * @example server.create
             */
            action: string;
            /** @description Id of the affected or created resource. */
            resource: string | null;
            /** @description Id of the token, if called through the API. */
            actor_token: string | null;
            /** @description Id of the session, if done in the dashboard. */
            actor_session: string | null;
            /** @description The X-Request-Id of the original response. */
            request_id: string;
            /**
             * @description ISO 3166 country code; `XX`: unknown. We do not store the address.
             * @example IS
             * @example XX
             */
            ip_country: string;
            /** @enum {string} */
            result: "ok" | "error" | "denied";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
        };
        Action: {
            /**
             * @description Opaque.
             * @example act_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "action";
            /**
             * @description What is done.
             * @example server.rebuild
             */
            command: string;
            /**
             * @description Ends once. `success` of a create: the server is reachable on the network.
             * @enum {string}
             */
            status: "running" | "success" | "error";
            /** @description Percent. */
            progress: number;
            /** @description In order. */
            steps: {
                /** @example disk */
                name: string;
                /** @enum {string} */
                status: "pending" | "running" | "success" | "error";
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00Z
                 */
                started_at: string | null;
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00Z
                 */
                finished_at: string | null;
            }[];
            /** @description The resource that the command names, then others that it concerns. */
            resources: {
                /** @enum {string} */
                type: "server" | "volume" | "snapshot" | "image";
                id: string;
            }[];
            error: {
                /** @enum {string} */
                code: "out_of_stock" | "host_failed" | "boot_failed" | "unreachable" | "timeout" | "image_broken" | "cancelled";
                /** @description The cause, and whether money went back to the balance. */
                message: string;
            } | null;
            /** @description The X-Request-Id of the response that began it. */
            request_id: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            finished_at: string | null;
        };
        /** @description The body of a webhook delivery, and the data of a message in the event stream. */
        Event: {
            /**
             * @description Opaque.
             * @example evt_aaaqk3m7qzb5x2l6v4t7n8wyja
             */
            id: string;
            /** @constant */
            object: "event";
            /** @enum {string} */
            type: "server.created" | "server.running" | "server.stopped" | "server.rebooted" | "server.rebuilt" | "server.resized" | "server.iso_inserted" | "server.iso_ejected" | "server.suspended" | "server.lost" | "server.destroyed" | "snapshot.ready" | "snapshot.failed" | "backup.failed" | "volume.attached" | "volume.detached" | "volume.lost" | "topup.pending" | "topup.confirmed" | "topup.expired" | "topup.reversed" | "billing.charged" | "billing.low_balance" | "token.created" | "token.updated" | "token.revoked" | "firewall.applied" | "action.success" | "action.error" | "alert.fired" | "alert.resolved" | "ping";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00Z
             */
            created_at: string;
            /** @description The full object at the time of the event, under its type. */
            data: {
                server?: components["schemas"]["Server"];
                snapshot?: components["schemas"]["Snapshot"];
                volume?: components["schemas"]["Volume"];
                topup?: components["schemas"]["Topup"];
                api_token?: components["schemas"]["ApiToken"];
                firewall_group?: components["schemas"]["FirewallGroup"];
                ledger_entry?: components["schemas"]["LedgerEntry"];
                balance?: components["schemas"]["Balance"];
                webhook?: components["schemas"]["Webhook"];
                action?: components["schemas"]["Action"];
                alert?: components["schemas"]["Alert"];
            };
            /** @description In the event stream: the sequence number of the event in your account, without gaps. */
            seq?: number;
        };
    };
    responses: {
        /** @description The request failed validation. */
        invalid_request: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The bearer token is missing, malformed, expired, or revoked. */
        unauthenticated: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The token does not have the scope that this operation requires. */
        forbidden_scope: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Resource not found. */
        not_found: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The resource is in a state that does not allow this operation. */
        conflict_state: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request is valid but cannot be processed. */
        unprocessable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests. Wait for the time in Retry-After. */
        rate_limited: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Unavailable for legal reasons. */
        jurisdictional_block: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Something went wrong on our side. */
        internal: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Temporarily unavailable. Try again later. */
        maintenance: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
        IdempotencyKey: string;
        PageSize: number;
        /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
        Cursor: string;
        /** @description Confirms that you accept a beta endpoint, which may change without notice. */
        Beta: "true";
    };
    requestBodies: never;
    headers: {
        /** @description The id of the request, which the audit log also shows. */
        "X-Request-Id": string;
        /** @description The id of the action that the request began, if it did: see GET /actions/{id}. */
        "X-Action-Id": string;
        /** @description Requests allowed per minute. */
        "X-RateLimit-Limit": number;
        /** @description Requests that you can send now. */
        "X-RateLimit-Remaining": number;
        /** @description The time when your full limit is available again, in Unix seconds. */
        "X-RateLimit-Reset": number;
        /** @description Seconds to wait before you retry. */
        "Retry-After": number;
        /** @description `true` if the response is a stored copy of the first one. */
        "Idempotent-Replayed": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "servers.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at" | "name" | "-name";
                "filter[status]"?: "provisioning" | "installing" | "running" | "stopped" | "suspended" | "destroying";
                "filter[region]"?: string;
                "filter[plan]"?: string;
                "filter[image]"?: string;
                "filter[name]"?: string;
                /** @description A tag of the server. */
                "filter[tag]"?: string;
                /** @description A label as `key:value`. Repeat it for labels that must all match. */
                label?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Server"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "web-1",
                 *       "plan": "s1",
                 *       "region": "par",
                 *       "image": "img_aaaqk3m7qzb5x2l6v4t7n8wyja",
                 *       "ssh_keys": [
                 *         "k_aaaqk3m7qzb5x2l6v4t7n8wyja"
                 *       ],
                 *       "tags": [
                 *         "web"
                 *       ],
                 *       "labels": {
                 *         "env": "prod"
                 *       },
                 *       "billing_months": 3
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Need not be unique.
                     * @example web-1
                     */
                    name: string;
                    /** @example s1 */
                    plan: string;
                    /** @example par */
                    region: string;
                    /** @description Id of an image, or of a ready snapshot of the region. */
                    image: string;
                    /** @description Ids of SSH keys; see GET /ssh-keys. */
                    ssh_keys: string[];
                    /**
                     * @description Free-form words. Replaces the whole list.
                     * @example [
                     *       "web",
                     *       "prod"
                     *     ]
                     */
                    tags?: string[];
                    /**
                     * @description Key-value pairs. Replaces the whole set.
                     * @example {
                     *       "env": "prod"
                     *     }
                     */
                    labels?: {
                        [key: string]: string;
                    };
                    /** @description cloud-init user data in Base64, at most 64 KiB decoded. We delete it after the install, except options such as `hostname` that cloud-init applies at every boot. `bootcmd` runs only during the install. */
                    user_data_b64?: string | null;
                    /**
                     * @description Months paid in advance. 3, 6, and 12 are discounted.
                     * @enum {integer}
                     */
                    billing_months?: 1 | 3 | 6 | 12;
                    /** @description Whether the next cycle is charged automatically. Default: true. */
                    auto_renew?: boolean;
                    protection?: {
                        /** @description Refuses DELETE with 409. */
                        delete?: boolean;
                        /** @description Refuses rebuild and restore with 409. */
                        rebuild?: boolean;
                    };
                    /** @description Whether the server is started. If not, it is `stopped`, and set up at its first start. */
                    start?: boolean;
                    /** @description Ids of firewall groups, in the order of evaluation. They are in force before the first packet. */
                    firewall_groups?: string[];
                    /** @description Ids of detached volumes of the region. They are attached once the server is installed. */
                    volumes?: string[];
                    /** @description Its backup policy. Default: no backups. */
                    backups?: {
                        /** @description Default: true. */
                        enabled?: boolean;
                        /**
                         * @description Default: `day`.
                         * @enum {string}
                         */
                        every?: "day" | "week";
                        /**
                         * @description Required for weekly backups.
                         * @enum {string|null}
                         */
                        weekday?: "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | null;
                        /** @description A backup starts within this hour of the day, in UTC. Default: 0. */
                        hour_utc?: number;
                        /** @description Number of backups. The oldest is deleted when a new one is ready. Default: 7. */
                        keep?: number;
                    };
                    /** @description Id of a quote. Above its price, nothing is charged (409). */
                    quote?: string;
                    /** @description Above this price in US dollars, nothing is charged (409). */
                    max_price_usd?: number;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedServer"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "web-2",
                 *       "tags": [
                 *         "web",
                 *         "prod"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Need not be unique.
                     * @example web-1
                     */
                    name?: string;
                    /**
                     * @description Free-form words. Replaces the whole list.
                     * @example [
                     *       "web",
                     *       "prod"
                     *     ]
                     */
                    tags?: string[];
                    /**
                     * @description Key-value pairs. Replaces the whole set.
                     * @example {
                     *       "env": "prod"
                     *     }
                     */
                    labels?: {
                        [key: string]: string;
                    };
                    auto_renew?: boolean;
                    protection?: {
                        /** @description Refuses DELETE with 409. */
                        delete?: boolean;
                        /** @description Refuses rebuild and restore with 409. */
                        rebuild?: boolean;
                    };
                    /**
                     * @description What boots first, from the next start or reboot on. `iso` needs an ISO image in the drive. It becomes `disk` when the image is ejected, and after a rebuild or restore.
                     * @enum {string}
                     */
                    boot?: "disk" | "iso";
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.reboot": {
        parameters: {
            query?: {
                hard?: boolean;
            };
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.rebuild": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "image": "img_aaaqk3m7qzb5x2l6v4t7n8wyja",
                 *       "ssh_keys": [
                 *         "k_aaaqk3m7qzb5x2l6v4t7n8wyja"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Image id. Default: the current image. */
                    image?: string;
                    /** @description SSH key ids. Default: the current keys. Required if the server has none. */
                    ssh_keys?: string[];
                    /** @description cloud-init user data in Base64, up to 64 KiB decoded. Earlier user data is not applied again. */
                    user_data_b64?: string | null;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.rescue": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RescuedServer"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.stop": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.start": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "max_price_usd": 16.54
                 *     }
                 */
                "application/json": {
                    /** @description Id of a quote. Above its price, nothing is charged (409). */
                    quote?: string;
                    /** @description Above this price in US dollars, nothing is charged (409). */
                    max_price_usd?: number;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.resize": {
        parameters: {
            query?: never;
            header: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Confirms that you accept a beta endpoint, which may change without notice. */
                "X-Service-Beta": components["parameters"]["Beta"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "plan": "s2",
                 *       "restart": true
                 *     }
                 */
                "application/json": {
                    /** @example s2 */
                    plan: string;
                    /**
                     * @description Enlarges the disk to that of the plan. A disk never shrinks.
                     * @default false
                     */
                    resize_disk?: boolean;
                    /**
                     * @description Allows to restart a running server.
                     * @default false
                     */
                    restart?: boolean;
                    /** @description Id of a quote. Above its price, nothing is charged (409). */
                    quote?: string;
                    /** @description Above this price in US dollars, nothing is charged (409). */
                    max_price_usd?: number;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.insert_iso": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "image": "custom_aaaqk3m7qzb5x2l6v4t7n8wyja"
                 *     }
                 */
                "application/json": {
                    /** @description Id of an image that you uploaded, `custom_…`. */
                    image: string;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.eject_iso": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.restore": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "snapshot": "snap_aaaqk3m7qzb5x2l6v4t7n8wyja"
                 *     }
                 */
                "application/json": {
                    /** @description Id of a ready snapshot in the same region whose disk is not larger. */
                    snapshot: string;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.console": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Console"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.metrics": {
        parameters: {
            query?: {
                step_s?: 60 | 300 | 3600;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Metrics"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "servers.set_rdns": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "ipv4": "web.example.org",
                 *       "ipv6": "web.example.org"
                 *     }
                 */
                "application/json": {
                    /** @example web.example.org */
                    ipv4?: string | null;
                    /** @example web.example.org */
                    ipv6?: string | null;
                    /**
                     * @description The address in the /64 that `ipv6` is for. Default: the server’s own.
                     * @example 2001:db8:0:1::25
                     */
                    address?: string;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Server"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "images.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "id" | "-id" | "created_at" | "-created_at" | "name" | "-name";
                "filter[family]"?: string;
                family?: string;
                /** @description An architecture that the image supports. */
                "filter[arch]"?: "amd64" | "arm64";
                /** @description An architecture that the image supports. */
                arch?: "amd64" | "arm64";
                "filter[type]"?: "official" | "custom";
                type?: "official" | "custom";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Image"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "images.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "(binary)",
                 *       "name": "rescue",
                 *       "version": "2026.1",
                 *       "arch": [
                 *         "amd64"
                 *       ]
                 *     }
                 */
                "multipart/form-data": {
                    /** @description An ISO 9660 image, at most 4 GiB. */
                    file: string;
                    /** @description A name for your own records. */
                    name?: string;
                    /** @description Defaults to the date of the upload. */
                    version?: string;
                    /** @description For example `minimal`. */
                    variant?: string;
                    /** @description Defaults to `amd64`. Send one part for each, or one part separated by commas. */
                    arch?: ("amd64" | "arm64")[];
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Image"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "images.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Image"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "images.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "plans.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "id" | "-id" | "created_at" | "-created_at" | "name" | "-name";
                "filter[category]"?: "vps" | "dedicated";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Plan"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "plans.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "regions.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "id" | "-id" | "created_at" | "-created_at" | "name" | "-name";
                "filter[country]"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Region"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "regions.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Region"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "ssh_keys.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at" | "name" | "-name";
                "filter[name]"?: string;
                "filter[type]"?: "ssh-ed25519" | "ssh-rsa" | "ecdsa-sha2-nistp256" | "ecdsa-sha2-nistp384" | "ecdsa-sha2-nistp521";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["ListedSshKey"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "ssh_keys.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "laptop",
                 *       "public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me@laptop"
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name: string;
                    /** @description The line of a .pub file: ssh-ed25519, ssh-rsa, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521; RSA of at least 2048 bits. */
                    public_key: string;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshKey"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "ssh_keys.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshKey"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "ssh_keys.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "account.get": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "limits.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "name" | "-name";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Limit"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tokens.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at" | "name" | "-name";
                "filter[scope]"?: "read" | "write" | "billing";
                "filter[name]"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["ApiToken"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tokens.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "deploys",
                 *       "scope": "write",
                 *       "expires_at": "2030-01-31T12:00:00Z"
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name: string;
                    /**
                     * @description At most the scope of the requesting token.
                     * @enum {string}
                     */
                    scope: "read" | "write" | "billing";
                    /**
                     * Format: date-time
                     * @description No later than the requesting token expires: a later time becomes that time.
                     * @example 2026-01-31T12:00:00Z
                     */
                    expires_at?: string | null;
                    limits?: {
                        ip_cidrs?: string[] | null;
                        operations?: ("servers.list" | "servers.create" | "servers.get" | "servers.update" | "servers.delete" | "servers.reboot" | "servers.rebuild" | "servers.rescue" | "servers.stop" | "servers.start" | "servers.resize" | "servers.insert_iso" | "servers.eject_iso" | "servers.console" | "servers.metrics" | "servers.set_rdns" | "images.list" | "images.get" | "images.create" | "images.delete" | "plans.list" | "plans.get" | "regions.list" | "regions.get" | "ssh_keys.list" | "ssh_keys.create" | "ssh_keys.get" | "ssh_keys.delete" | "account.get" | "limits.list" | "tokens.list" | "tokens.create" | "tokens.get" | "tokens.update" | "tokens.delete" | "balance.get" | "ledger.list" | "topups.create" | "topups.get" | "topups.list" | "quotes.create" | "volumes.list" | "volumes.create" | "volumes.get" | "volumes.update" | "volumes.delete" | "volumes.attach" | "volumes.detach" | "snapshots.list" | "snapshots.create" | "snapshots.get" | "snapshots.update" | "servers.restore" | "backup_policies.get" | "backup_policies.replace" | "snapshots.delete" | "firewall_groups.list" | "firewall_groups.create" | "firewall_groups.get" | "firewall_groups.update" | "firewall_groups.delete" | "firewall_rules.create" | "firewall_rules.replace" | "firewall_rules.delete" | "webhooks.list" | "webhooks.create" | "webhooks.get" | "webhooks.update" | "webhooks.delete" | "webhooks.rotate_secret" | "webhooks.end_rotation" | "webhooks.test" | "deliveries.list" | "deliveries.replay" | "alerts.list" | "alerts.create" | "alerts.get" | "alerts.update" | "alerts.delete" | "tickets.list" | "tickets.create" | "tickets.get" | "tickets.reply" | "tickets.close" | "audit_events.list" | "audit_events.get" | "actions.list" | "actions.get" | "actions.of_server" | "events.stream" | "servers.unprotect" | "volumes.unprotect" | "snapshots.unprotect")[] | null;
                        resources?: string[] | null;
                        /** @example env=ci,team=web */
                        label_selector?: string | null;
                        regions?: string[] | null;
                        spend_usd?: number | null;
                        /** @enum {string} */
                        spend_period?: "total" | "month";
                        max_servers?: number | null;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiToken"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tokens.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiToken"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tokens.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tokens.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "limits": {
                 *         "spend_usd": 50,
                 *         "spend_period": "month",
                 *         "max_servers": 5
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name?: string;
                    limits?: {
                        ip_cidrs?: string[] | null;
                        operations?: ("servers.list" | "servers.create" | "servers.get" | "servers.update" | "servers.delete" | "servers.reboot" | "servers.rebuild" | "servers.rescue" | "servers.stop" | "servers.start" | "servers.resize" | "servers.insert_iso" | "servers.eject_iso" | "servers.console" | "servers.metrics" | "servers.set_rdns" | "images.list" | "images.get" | "images.create" | "images.delete" | "plans.list" | "plans.get" | "regions.list" | "regions.get" | "ssh_keys.list" | "ssh_keys.create" | "ssh_keys.get" | "ssh_keys.delete" | "account.get" | "limits.list" | "tokens.list" | "tokens.create" | "tokens.get" | "tokens.update" | "tokens.delete" | "balance.get" | "ledger.list" | "topups.create" | "topups.get" | "topups.list" | "quotes.create" | "volumes.list" | "volumes.create" | "volumes.get" | "volumes.update" | "volumes.delete" | "volumes.attach" | "volumes.detach" | "snapshots.list" | "snapshots.create" | "snapshots.get" | "snapshots.update" | "servers.restore" | "backup_policies.get" | "backup_policies.replace" | "snapshots.delete" | "firewall_groups.list" | "firewall_groups.create" | "firewall_groups.get" | "firewall_groups.update" | "firewall_groups.delete" | "firewall_rules.create" | "firewall_rules.replace" | "firewall_rules.delete" | "webhooks.list" | "webhooks.create" | "webhooks.get" | "webhooks.update" | "webhooks.delete" | "webhooks.rotate_secret" | "webhooks.end_rotation" | "webhooks.test" | "deliveries.list" | "deliveries.replay" | "alerts.list" | "alerts.create" | "alerts.get" | "alerts.update" | "alerts.delete" | "tickets.list" | "tickets.create" | "tickets.get" | "tickets.reply" | "tickets.close" | "audit_events.list" | "audit_events.get" | "actions.list" | "actions.get" | "actions.of_server" | "events.stream" | "servers.unprotect" | "volumes.unprotect" | "snapshots.unprotect")[] | null;
                        resources?: string[] | null;
                        /** @example env=ci,team=web */
                        label_selector?: string | null;
                        regions?: string[] | null;
                        spend_usd?: number | null;
                        /** @enum {string} */
                        spend_period?: "total" | "month";
                        max_servers?: number | null;
                    };
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiToken"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "balance.get": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Balance"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "ledger.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at";
                "filter[type]"?: "charge" | "topup" | "bonus" | "refund" | "adjustment" | "reversal";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["LedgerEntry"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "topups.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at";
                "filter[status]"?: "pending" | "confirming" | "credited" | "expired";
                "filter[coin]"?: "BTC" | "XMR" | "ETH" | "USDT" | "USDTTRC" | "LTC" | "TRX" | "SOL";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Topup"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "topups.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "coin": "XMR",
                 *       "amount_usd": 100
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    coin: "BTC" | "XMR" | "ETH" | "USDT" | "USDTTRC" | "LTC" | "TRX" | "SOL";
                    /** @description US dollars, at most two decimals. */
                    amount_usd: number;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topup"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "topups.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topup"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "quotes.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "operation": "server.create",
                 *       "params": {
                 *         "plan": "s1",
                 *         "region": "par",
                 *         "billing_months": 3
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    operation: "server.create" | "server.start" | "server.resize" | "server.delete";
                    /** @description Id of the server. Only for operations on a server that exists. */
                    resource?: string;
                    /** @description The body of that request. For `server.create`, only `plan` is required: fields that you leave out are not checked. */
                    params?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Quote"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "volumes.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at" | "name" | "-name";
                "filter[name]"?: string;
                "filter[region]"?: string;
                /** @description The id of a server. */
                "filter[attached_to]"?: string;
                /** @description A label as `key:value`. Repeat it for labels that must all match. */
                label?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Volume"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "volumes.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "data",
                 *       "size_gb": 100,
                 *       "region": "par",
                 *       "filesystem": "ext4",
                 *       "labels": {
                 *         "env": "prod"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name: string;
                    size_gb: number;
                    region: string;
                    /** @description Volume-level LUKS. The key is yours, and reaches the server through cloud-init. Fixed at creation. */
                    encrypted?: boolean;
                    protection?: {
                        /** @description Refuses DELETE with 409. */
                        delete?: boolean;
                    };
                    /**
                     * @description For your own records: we do not format volumes.
                     * @example ext4
                     */
                    filesystem?: string | null;
                    /**
                     * @description Key-value pairs. Replaces the whole set.
                     * @example {
                     *       "env": "prod"
                     *     }
                     */
                    labels?: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "volumes.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "volumes.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "volumes.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "size_gb": 200
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name?: string;
                    size_gb?: number;
                    /**
                     * @description Key-value pairs. Replaces the whole set.
                     * @example {
                     *       "env": "prod"
                     *     }
                     */
                    labels?: {
                        [key: string]: string;
                    };
                    protection?: {
                        /** @description Refuses DELETE with 409. */
                        delete?: boolean;
                    };
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "volumes.attach": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "server": "srv_aaaqk3m7qzb5x2l6v4t7n8wyja"
                 *     }
                 */
                "application/json": {
                    /** @description Id of a server in the same region. */
                    server: string;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "volumes.detach": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "snapshots.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at" | "name" | "-name";
                /** @description The id of a server. */
                "filter[server]"?: string;
                "filter[status]"?: "creating" | "ready" | "error";
                "filter[name]"?: string;
                "filter[type]"?: "manual" | "backup";
                /** @description A label as `key:value`. Repeat it for labels that must all match. */
                label?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Snapshot"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "snapshots.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "before-upgrade"
                 *     }
                 */
                "application/json": {
                    /** @description Default: a name with the current time. Need not be unique. */
                    name?: string;
                    /**
                     * Format: date-time
                     * @description When it is deleted automatically; null: never. A protected snapshot stays, and is deleted once its protection is lifted.
                     * @example 2026-01-31T12:00:00Z
                     */
                    expires_at?: string | null;
                    /**
                     * @description Key-value pairs. Replaces the whole set.
                     * @example {
                     *       "env": "prod"
                     *     }
                     */
                    labels?: {
                        [key: string]: string;
                    };
                    protection?: {
                        /** @description Refuses DELETE with 409. */
                        delete?: boolean;
                    };
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "snapshots.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "snapshots.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Action-Id": components["headers"]["X-Action-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "snapshots.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "before-upgrade",
                 *       "protection": {
                 *         "delete": true
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name?: string;
                    /**
                     * Format: date-time
                     * @description When it is deleted automatically; null: never. A protected snapshot stays, and is deleted once its protection is lifted.
                     * @example 2026-01-31T12:00:00Z
                     */
                    expires_at?: string | null;
                    /**
                     * @description Key-value pairs. Replaces the whole set.
                     * @example {
                     *       "env": "prod"
                     *     }
                     */
                    labels?: {
                        [key: string]: string;
                    };
                    protection?: {
                        /** @description Refuses DELETE with 409. */
                        delete?: boolean;
                    };
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "backup_policies.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupPolicy"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "backup_policies.replace": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true,
                 *       "every": "week",
                 *       "weekday": "sunday",
                 *       "hour_utc": 3,
                 *       "keep": 4
                 *     }
                 */
                "application/json": {
                    enabled: boolean;
                    /**
                     * @description Default: `day`.
                     * @enum {string}
                     */
                    every?: "day" | "week";
                    /**
                     * @description Required for weekly backups.
                     * @enum {string|null}
                     */
                    weekday?: "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | null;
                    /** @description A backup starts within this hour of the day, in UTC. Default: 0. */
                    hour_utc?: number;
                    /** @description Number of backups. The oldest is deleted when a new one is ready. Default: 7. */
                    keep?: number;
                    /** @description Above this price in US dollars, nothing is charged (409). */
                    max_price_usd?: number;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupPolicy"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "firewall_groups.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at" | "name" | "-name";
                "filter[name]"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["FirewallGroup"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "firewall_groups.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "web",
                 *       "default_action": "drop",
                 *       "rules": [
                 *         {
                 *           "direction": "in",
                 *           "proto": "tcp",
                 *           "port": "80,443",
                 *           "source": "0.0.0.0/0",
                 *           "action": "accept"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name: string;
                    /**
                     * @description Action for packets that match no rule: always for inbound traffic, and for outbound traffic once an applied group has an `out` rule. `drop` is recommended, and wins if groups differ.
                     * @enum {string}
                     */
                    default_action: "drop" | "accept";
                    rules?: {
                        /** @enum {string} */
                        direction: "in" | "out";
                        /** @enum {string} */
                        proto: "tcp" | "udp" | "icmp" | "any";
                        /**
                         * @description One port, a comma-separated list, or a range `<low>-<high>`; null: every port. Only with tcp and udp.
                         * @example 443
                         * @example 80,443
                         * @example 8000-8999
                         */
                        port?: string | null;
                        /**
                         * @description CIDR of the remote address: the source of inbound and the destination of outbound traffic. An IPv4 CIDR never matches IPv6.
                         * @example 203.0.113.0/24
                         * @example 0.0.0.0/0
                         * @example ::/0
                         */
                        source: string;
                        /**
                         * @description `reject` responds with RST or ICMP unreachable.
                         * @enum {string}
                         */
                        action: "accept" | "drop" | "reject";
                        note?: string | null;
                    }[];
                    /** @description Ids of servers. Replaces the whole list. */
                    applied_to?: string[];
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallGroup"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "firewall_groups.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallGroup"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "firewall_groups.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "firewall_groups.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "default_action": "drop",
                 *       "applied_to": [
                 *         "srv_aaaqk3m7qzb5x2l6v4t7n8wyja"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name?: string;
                    /**
                     * @description Action for packets that match no rule: always for inbound traffic, and for outbound traffic once an applied group has an `out` rule. `drop` is recommended, and wins if groups differ.
                     * @enum {string}
                     */
                    default_action?: "drop" | "accept";
                    /** @description Ids of servers. Replaces the whole list. */
                    applied_to?: string[];
                    /** @description Ids of servers to apply the group to, in addition to those in `applied_to` of the group. */
                    attach?: string[];
                    /** @description Ids of servers to remove from `applied_to` of the group. */
                    detach?: string[];
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallGroup"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "firewall_rules.replace": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rules": [
                 *         {
                 *           "direction": "in",
                 *           "proto": "tcp",
                 *           "port": "80,443",
                 *           "source": "0.0.0.0/0",
                 *           "action": "accept"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    rules: {
                        /** @enum {string} */
                        direction: "in" | "out";
                        /** @enum {string} */
                        proto: "tcp" | "udp" | "icmp" | "any";
                        /**
                         * @description One port, a comma-separated list, or a range `<low>-<high>`; null: every port. Only with tcp and udp.
                         * @example 443
                         * @example 80,443
                         * @example 8000-8999
                         */
                        port?: string | null;
                        /**
                         * @description CIDR of the remote address: the source of inbound and the destination of outbound traffic. An IPv4 CIDR never matches IPv6.
                         * @example 203.0.113.0/24
                         * @example 0.0.0.0/0
                         * @example ::/0
                         */
                        source: string;
                        /**
                         * @description `reject` responds with RST or ICMP unreachable.
                         * @enum {string}
                         */
                        action: "accept" | "drop" | "reject";
                        note?: string | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallGroup"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "firewall_rules.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "direction": "in",
                 *       "proto": "tcp",
                 *       "port": "80,443",
                 *       "source": "0.0.0.0/0",
                 *       "action": "accept"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    direction: "in" | "out";
                    /** @enum {string} */
                    proto: "tcp" | "udp" | "icmp" | "any";
                    /**
                     * @description One port, a comma-separated list, or a range `<low>-<high>`; null: every port. Only with tcp and udp.
                     * @example 443
                     * @example 80,443
                     * @example 8000-8999
                     */
                    port?: string | null;
                    /**
                     * @description CIDR of the remote address: the source of inbound and the destination of outbound traffic. An IPv4 CIDR never matches IPv6.
                     * @example 203.0.113.0/24
                     * @example 0.0.0.0/0
                     * @example ::/0
                     */
                    source: string;
                    /**
                     * @description `reject` responds with RST or ICMP unreachable.
                     * @enum {string}
                     */
                    action: "accept" | "drop" | "reject";
                    note?: string | null;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRule"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "firewall_rules.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "webhooks.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at";
                "filter[active]"?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Webhook"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "webhooks.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://example.com/hooks",
                 *       "events": [
                 *         "server.running",
                 *         "server.destroyed"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description https only, with a valid certificate, on the public internet. No user name, no fragment. */
                    url: string;
                    /** @description Event names, or ["*"] for all that the scope may read. Duplicates count once. Replaces the whole list. Naming a money event (`billing.*`, `topup.*`) requires scope `billing`. */
                    events: ("server.created" | "server.running" | "server.stopped" | "server.rebooted" | "server.rebuilt" | "server.resized" | "server.iso_inserted" | "server.iso_ejected" | "server.suspended" | "server.lost" | "server.destroyed" | "snapshot.ready" | "snapshot.failed" | "backup.failed" | "volume.attached" | "volume.detached" | "volume.lost" | "topup.pending" | "topup.confirmed" | "topup.expired" | "topup.reversed" | "billing.charged" | "billing.low_balance" | "token.created" | "token.updated" | "token.revoked" | "firewall.applied" | "action.success" | "action.error" | "alert.fired" | "alert.resolved" | "*")[];
                    /** @default true */
                    active?: boolean;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "webhooks.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "webhooks.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "webhooks.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "events": [
                 *         "*"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description https only, with a valid certificate, on the public internet. No user name, no fragment. */
                    url?: string;
                    /** @description Event names, or ["*"] for all that the scope may read. Duplicates count once. Replaces the whole list. Naming a money event (`billing.*`, `topup.*`) requires scope `billing`. */
                    events?: ("server.created" | "server.running" | "server.stopped" | "server.rebooted" | "server.rebuilt" | "server.resized" | "server.iso_inserted" | "server.iso_ejected" | "server.suspended" | "server.lost" | "server.destroyed" | "snapshot.ready" | "snapshot.failed" | "backup.failed" | "volume.attached" | "volume.detached" | "volume.lost" | "topup.pending" | "topup.confirmed" | "topup.expired" | "topup.reversed" | "billing.charged" | "billing.low_balance" | "token.created" | "token.updated" | "token.revoked" | "firewall.applied" | "action.success" | "action.error" | "alert.fired" | "alert.resolved" | "*")[];
                    active?: boolean;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "webhooks.rotate_secret": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedWebhook"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "webhooks.end_rotation": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "keep": "next"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description `current` cancels the rotation and discards the next secret.
                     * @default next
                     * @enum {string}
                     */
                    keep?: "next" | "current";
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "webhooks.test": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "deliveries.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at";
                "filter[status]"?: "pending" | "delivered" | "failed" | "cancelled";
                "filter[event_type]"?: "server.created" | "server.running" | "server.stopped" | "server.rebooted" | "server.rebuilt" | "server.resized" | "server.iso_inserted" | "server.iso_ejected" | "server.suspended" | "server.lost" | "server.destroyed" | "snapshot.ready" | "snapshot.failed" | "backup.failed" | "volume.attached" | "volume.detached" | "volume.lost" | "topup.pending" | "topup.confirmed" | "topup.expired" | "topup.reversed" | "billing.charged" | "billing.low_balance" | "token.created" | "token.updated" | "token.revoked" | "firewall.applied" | "action.success" | "action.error" | "alert.fired" | "alert.resolved" | "ping";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["WebhookDelivery"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "deliveries.replay": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "alerts.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at" | "name" | "-name";
                "filter[metric]"?: "cpu_pct" | "ram_pct" | "disk_write_bps" | "net_out_bps" | "transfer_pct" | "unreachable";
                "filter[enabled]"?: "true" | "false";
                "filter[name]"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Alert"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "alerts.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Busy web servers",
                 *       "metric": "cpu_pct",
                 *       "value": 90,
                 *       "window": "10m",
                 *       "label_selector": "tier=web"
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name: string;
                    /**
                     * @description `cpu_pct`, `ram_pct`: percent of CPUs and memory. `disk_write_bps`, `net_out_bps`: bytes per second. `transfer_pct`: percent of the plan’s monthly transfer. `unreachable`: the server should run, and we do not see its machine running.
                     * @enum {string}
                     */
                    metric: "cpu_pct" | "ram_pct" | "disk_write_bps" | "net_out_bps" | "transfer_pct" | "unreachable";
                    /**
                     * @description Above (`gt`) or below (`lt`) the value.
                     * @default gt
                     * @enum {string}
                     */
                    compare?: "gt" | "lt";
                    /** @description In the unit of the metric. Not for `unreachable`. */
                    value?: number;
                    /**
                     * @description The alert fires when every minute of the last 5, 10, 30, or 60 minutes meets the condition.
                     * @default 5m
                     * @enum {string}
                     */
                    window?: "5m" | "10m" | "30m" | "1h";
                    /** @description Ids of servers. Not together with `label_selector`. */
                    servers?: string[];
                    /**
                     * @description Labels that a server must have, all of them: `env=prod,team=web`. Empty: all servers. Not together with `servers`.
                     * @example env=ci,team=web
                     */
                    label_selector?: string;
                    /** @default true */
                    enabled?: boolean;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "alerts.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "alerts.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "alerts.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "value": 95
                 *     }
                 */
                "application/json": {
                    /** @description Need not be unique. */
                    name?: string;
                    /**
                     * @description `cpu_pct`, `ram_pct`: percent of CPUs and memory. `disk_write_bps`, `net_out_bps`: bytes per second. `transfer_pct`: percent of the plan’s monthly transfer. `unreachable`: the server should run, and we do not see its machine running.
                     * @enum {string}
                     */
                    metric?: "cpu_pct" | "ram_pct" | "disk_write_bps" | "net_out_bps" | "transfer_pct" | "unreachable";
                    /**
                     * @description Above (`gt`) or below (`lt`) the value.
                     * @enum {string}
                     */
                    compare?: "gt" | "lt";
                    /** @description In the unit of the metric. Not for `unreachable`. */
                    value?: number;
                    /**
                     * @description The alert fires when every minute of the last 5, 10, 30, or 60 minutes meets the condition.
                     * @enum {string}
                     */
                    window?: "5m" | "10m" | "30m" | "1h";
                    /** @description Ids of servers. Not together with `label_selector`. */
                    servers?: string[];
                    /**
                     * @description Labels that a server must have, all of them: `env=prod,team=web`. Empty: all servers. Not together with `servers`.
                     * @example env=ci,team=web
                     */
                    label_selector?: string;
                    enabled?: boolean;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tickets.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at";
                "filter[status]"?: "open" | "answered" | "closed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["ListedTicket"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tickets.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "subject": "No route to web-1",
                 *       "text": "Since 12:00 UTC, web-1 does not answer."
                 *     }
                 */
                "application/json": {
                    subject: string;
                    /** @description Plain text. */
                    text: string;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tickets.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tickets.reply": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "It works again. Thank you."
                 *     }
                 */
                "application/json": {
                    /** @description Plain text. */
                    text: string;
                };
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "tickets.close": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: we carry out the request only once. Use a UUIDv4, for example. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "audit_events.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at";
                "filter[action]"?: "customer.sign_up" | "customer.sign_in" | "customer.sign_out" | "customer.recover" | "customer.change_password" | "customer.request_reset" | "customer.reset_password" | "customer.confirm_address" | "customer.resend_confirmation" | "customer.change_email" | "customer.undo_email" | "customer.set_openpgp_key" | "customer.set_shortcuts" | "customer.set_news" | "customer.begin_totp" | "customer.enable_totp" | "customer.disable_totp" | "customer.add_passkey" | "customer.rename_passkey" | "customer.remove_passkey" | "customer.end_session" | "customer.delete" | "customer.forget" | "customer.export" | "customer.view" | "customer.credit" | "customer.debit" | "customer.set_limits" | "customer.freeze" | "customer.unfreeze" | "token.create" | "token.update" | "token.revoke" | "topup.create" | "topup.cancel" | "topup.credit" | "topup.reverse" | "topup.refund" | "topup.expire" | "coupon.redeem" | "coupon.create" | "coupon.end" | "server.create" | "server.run" | "server.fail" | "server.destroy" | "server.remove" | "server.renew" | "server.suspend" | "server.resume" | "server.update" | "server.reboot" | "server.rebuild" | "server.rescue" | "server.stop" | "server.start" | "server.restore" | "server.resize" | "server.insert_iso" | "server.eject_iso" | "server.set_boot" | "server.set_rdns" | "server.freeze" | "server.hold" | "server.release" | "server.request_move" | "server.move" | "server.lose" | "server.open_console" | "server.allow_mail" | "server.block_mail" | "server.blackhole" | "server.lift_blackhole" | "image.create" | "image.delete" | "image.import" | "ssh_key.create" | "ssh_key.delete" | "volume.create" | "volume.update" | "volume.delete" | "volume.attach" | "volume.detach" | "volume.lose" | "volume.move" | "snapshot.create" | "snapshot.update" | "snapshot.finish" | "snapshot.fail" | "snapshot.delete" | "snapshot.move" | "backup_policy.replace" | "backup.miss" | "firewall_group.create" | "firewall_group.update" | "firewall_group.replace_rules" | "firewall_group.delete" | "firewall_rule.create" | "firewall_rule.delete" | "webhook.create" | "webhook.update" | "webhook.delete" | "webhook.rotate_secret" | "webhook.end_rotation" | "webhook.test" | "webhook.replay" | "alert.create" | "alert.update" | "alert.delete" | "ticket.create" | "ticket.reply" | "ticket.open" | "ticket.answer" | "ticket.attach" | "ticket.close" | "ticket.reopen" | "order_draft.save" | "order_draft.discard" | "saved_filter.save" | "saved_filter.delete" | "maintenance.start" | "maintenance.end" | "announcement.create" | "announcement.change" | "announcement.end" | "mailing.create" | "mailing.pause" | "mailing.resume" | "mailing.stop" | "incident.create" | "incident.update" | "incident.resolve" | "policy.block" | "policy.unblock" | "switch.set" | "database.backup" | "database.restore" | "catalogue.load" | "plan.set_price" | "plan.create" | "plan.change" | "plan.retire" | "plan.restore" | "region.create" | "region.change" | "region.retire" | "region.restore" | "official_image.create" | "official_image.change" | "official_image.retire" | "official_image.restore" | "price.announce" | "price.cancel" | "host.add" | "host.resize" | "host.set" | "host.drain" | "host.undrain" | "host.move_servers" | "host.remove" | "host.revoke" | "host.lose" | "host.fence" | "machine.add" | "machine.remove" | "machine.fulfil" | "machine.wipe" | "machine.free" | "machine.off" | "machine.on" | "ips.add" | "ips.block" | "ips.unblock" | "dns.create_zones" | "dns.publish" | "chain.import" | "chain.skip" | "chain.recover" | "chain.reread";
                action?: "customer.sign_up" | "customer.sign_in" | "customer.sign_out" | "customer.recover" | "customer.change_password" | "customer.request_reset" | "customer.reset_password" | "customer.confirm_address" | "customer.resend_confirmation" | "customer.change_email" | "customer.undo_email" | "customer.set_openpgp_key" | "customer.set_shortcuts" | "customer.set_news" | "customer.begin_totp" | "customer.enable_totp" | "customer.disable_totp" | "customer.add_passkey" | "customer.rename_passkey" | "customer.remove_passkey" | "customer.end_session" | "customer.delete" | "customer.forget" | "customer.export" | "customer.view" | "customer.credit" | "customer.debit" | "customer.set_limits" | "customer.freeze" | "customer.unfreeze" | "token.create" | "token.update" | "token.revoke" | "topup.create" | "topup.cancel" | "topup.credit" | "topup.reverse" | "topup.refund" | "topup.expire" | "coupon.redeem" | "coupon.create" | "coupon.end" | "server.create" | "server.run" | "server.fail" | "server.destroy" | "server.remove" | "server.renew" | "server.suspend" | "server.resume" | "server.update" | "server.reboot" | "server.rebuild" | "server.rescue" | "server.stop" | "server.start" | "server.restore" | "server.resize" | "server.insert_iso" | "server.eject_iso" | "server.set_boot" | "server.set_rdns" | "server.freeze" | "server.hold" | "server.release" | "server.request_move" | "server.move" | "server.lose" | "server.open_console" | "server.allow_mail" | "server.block_mail" | "server.blackhole" | "server.lift_blackhole" | "image.create" | "image.delete" | "image.import" | "ssh_key.create" | "ssh_key.delete" | "volume.create" | "volume.update" | "volume.delete" | "volume.attach" | "volume.detach" | "volume.lose" | "volume.move" | "snapshot.create" | "snapshot.update" | "snapshot.finish" | "snapshot.fail" | "snapshot.delete" | "snapshot.move" | "backup_policy.replace" | "backup.miss" | "firewall_group.create" | "firewall_group.update" | "firewall_group.replace_rules" | "firewall_group.delete" | "firewall_rule.create" | "firewall_rule.delete" | "webhook.create" | "webhook.update" | "webhook.delete" | "webhook.rotate_secret" | "webhook.end_rotation" | "webhook.test" | "webhook.replay" | "alert.create" | "alert.update" | "alert.delete" | "ticket.create" | "ticket.reply" | "ticket.open" | "ticket.answer" | "ticket.attach" | "ticket.close" | "ticket.reopen" | "order_draft.save" | "order_draft.discard" | "saved_filter.save" | "saved_filter.delete" | "maintenance.start" | "maintenance.end" | "announcement.create" | "announcement.change" | "announcement.end" | "mailing.create" | "mailing.pause" | "mailing.resume" | "mailing.stop" | "incident.create" | "incident.update" | "incident.resolve" | "policy.block" | "policy.unblock" | "switch.set" | "database.backup" | "database.restore" | "catalogue.load" | "plan.set_price" | "plan.create" | "plan.change" | "plan.retire" | "plan.restore" | "region.create" | "region.change" | "region.retire" | "region.restore" | "official_image.create" | "official_image.change" | "official_image.retire" | "official_image.restore" | "price.announce" | "price.cancel" | "host.add" | "host.resize" | "host.set" | "host.drain" | "host.undrain" | "host.move_servers" | "host.remove" | "host.revoke" | "host.lose" | "host.fence" | "machine.add" | "machine.remove" | "machine.fulfil" | "machine.wipe" | "machine.free" | "machine.off" | "machine.on" | "ips.add" | "ips.block" | "ips.unblock" | "dns.create_zones" | "dns.publish" | "chain.import" | "chain.skip" | "chain.recover" | "chain.reread";
                /** @description The id of the affected resource. */
                "filter[resource]"?: string;
                /** @description The id of the affected resource. */
                resource?: string;
                /** @description Only events at or after this time. */
                "filter[from]"?: string;
                /** @description Only events at or after this time. */
                from?: string;
                /** @description Only events before this time. */
                "filter[to]"?: string;
                /** @description Only events before this time. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["AuditEvent"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "audit_events.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEvent"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "actions.list": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at";
                "filter[status]"?: "running" | "success" | "error";
                "filter[command]"?: "server.create" | "server.delete" | "server.start" | "server.stop" | "server.reboot" | "server.rescue" | "server.resize" | "server.insert_iso" | "server.eject_iso" | "server.set_boot" | "server.rebuild" | "server.restore" | "server.suspend" | "server.move" | "volume.create" | "volume.attach" | "volume.detach" | "volume.resize" | "volume.delete" | "snapshot.create" | "snapshot.delete" | "image.create";
                /** @description Id of the resource that the command names, such as `vol_…` of `volume.attach`. */
                "filter[resource]"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Action"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "actions.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Action"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "actions.of_server": {
        parameters: {
            query?: {
                page_size?: components["parameters"]["PageSize"];
                /** @description `next_cursor` of the previous page. Opaque, and bound to the filter and the sort order. */
                cursor?: components["parameters"]["Cursor"];
                sort?: "created_at" | "-created_at";
                "filter[status]"?: "running" | "success" | "error";
                "filter[command]"?: "server.create" | "server.delete" | "server.start" | "server.stop" | "server.reboot" | "server.rescue" | "server.resize" | "server.insert_iso" | "server.eject_iso" | "server.set_boot" | "server.rebuild" | "server.restore" | "server.suspend" | "server.move" | "volume.create" | "volume.attach" | "volume.detach" | "volume.resize" | "volume.delete" | "snapshot.create" | "snapshot.delete" | "image.create";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Action"][];
                        has_more: boolean;
                        /** @description Present when has_more is true. */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "events.stream": {
        parameters: {
            query?: {
                after?: number;
                types?: string;
            };
            header: {
                "Last-Event-ID"?: number;
                /** @description Confirms that you accept a beta endpoint, which may change without notice. */
                "X-Service-Beta": components["parameters"]["Beta"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An open stream. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example retry: 3000
                     *     id: 41
                     *
                     *     id: 42
                     *     event: server.stopped
                     *     data: {"id":"evt_aaaqk3m7qzb5x2l6v4t7n8wyja","object":"event","type":"server.stopped","created_at":"2026-01-31T12:00:00Z","data":{"server":{"id":"srv_aaaqk3m7qzb5x2l6v4t7n8wyja","object":"server","status":"stopped"}},"seq":42}
                     *
                     *     :
                     */
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_scope"];
            409: components["responses"]["conflict_state"];
            429: components["responses"]["rate_limited"];
            451: components["responses"]["jurisdictional_block"];
            500: components["responses"]["internal"];
            503: components["responses"]["maintenance"];
        };
    };
    "deliveries.receive": {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The signature: `t=<unix seconds>,v1=<lowercase hex>`.
                 * @example t=1769860800,v1=0000000000000000000000000000000000000000000000000000000000000000
                 */
                "X-Service-Signature": string;
                /**
                 * @description The id of the delivery. Every attempt has the same one.
                 * @example del_aaaqk3m7qzb5x2l6v4t7n8wyja
                 */
                "X-Service-Delivery-Id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Event"];
            };
        };
        responses: {
            /** @description Stops deliveries: we pause the webhook. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
