/** The facts that the simulated screen shows about its machine, read again for every refresh. */
export interface ScreenFacts {
  readonly hostname: string;
  /** The state as observed by the driver. */
  readonly state: string;
  /** The system on the disk, such as `debian 13`. */
  readonly image: string;
  readonly ipv4: string;
  readonly ipv6: string;
  /** Whether it runs the rescue system. */
  readonly rescue: boolean;
  readonly bootedAt: Date;
}
