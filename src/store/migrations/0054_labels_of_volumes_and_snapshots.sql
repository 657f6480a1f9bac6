-- Labels of volumes and snapshots, as servers have them.
alter table volumes add column labels jsonb not null default '{}';
alter table snapshots add column labels jsonb not null default '{}';
