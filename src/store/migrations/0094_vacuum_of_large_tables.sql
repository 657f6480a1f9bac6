-- Compatible: only settings of autovacuum.
-- Autovacuum waits for a share of a table: by default, a fifth of its rows are dead, and a tenth changed since they
-- were analyzed. Of a million rows that many are left for days, and every scan reads them.
alter table servers set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table balances set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
alter table samplings set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
alter table webhook_queues set (autovacuum_vacuum_scale_factor = 0.02);
alter table idempotency set (autovacuum_vacuum_scale_factor = 0.05);
-- Each row is updated once: an event is numbered, a delivery is sent. A new partition copies the default one.
alter table partitions.events set (autovacuum_vacuum_scale_factor = 0.05);
alter table partitions.deliveries set (autovacuum_vacuum_scale_factor = 0.05);
