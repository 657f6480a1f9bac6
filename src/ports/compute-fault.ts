/**
 * The kind of failure: for `host`, try another host; for `transient`, try again; for `refused`, neither
 * helps. For `waiting`, the host is receiving or copying a file that the call needs: try again, however
 * often.
 */
export type ComputeFault = 'host' | 'transient' | 'refused' | 'waiting';
