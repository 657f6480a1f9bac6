/** The device that a server boots first. */
export const BOOT_ORDERS = ['disk', 'iso'] as const;
export type BootOrder = (typeof BOOT_ORDERS)[number];
