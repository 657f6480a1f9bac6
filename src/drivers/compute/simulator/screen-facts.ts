/** What the simulated screen shows of its machine. Asked anew for each picture. */
export interface ScreenFacts {
  readonly hostname: string;
  /** As the driver observes it. */
  readonly state: string;
  /** What is on the disk, as in `debian 13`. */
  readonly image: string;
  readonly ipv4: string;
  readonly ipv6: string;
  /** It runs the rescue system. */
  readonly rescue: boolean;
  readonly bootedAt: Date;
}
