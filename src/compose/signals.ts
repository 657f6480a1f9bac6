/** Signals to this process, and to the service manager that started it. */
import { execFile } from 'node:child_process';

/** Resolves on the first SIGTERM or SIGINT. */
export function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}

/** Catches SIGHUP from the start, unless it means that the terminal is gone. */
export class Hangups {
  #isMissed = false;
  #act = () => {
    this.#isMissed = true;
  };

  constructor() {
    if (!process.stdin.isTTY) process.on('SIGHUP', () => this.#act());
  }

  /** Calls back on each one, and immediately if there was one before. */
  listen(act: () => void): void {
    this.#act = act;
    if (this.#isMissed) act();
  }
}

/** Tells systemd that the service is ready, for units of `Type=notify`. */
export function notifyReady(warn: (line: string) => void): void {
  if (!process.env.NOTIFY_SOCKET) return;
  // Node has no datagram sockets of the Unix domain.
  execFile('systemd-notify', ['--ready'], (error) => {
    if (error) warn(`skerryd: systemd-notify failed: ${error.message}`);
  });
}
