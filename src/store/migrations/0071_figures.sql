-- Business figures by the hour. A flow is what happened in the hour; a level is how much there was when the hour was last
-- measured. Hours without a flow have no row.
create table figures (
  name text not null,
  -- A part of the figure, such as a coin or a region; empty: the whole.
  key text not null,
  hour timestamptz not null,
  value bigint not null,
  primary key (name, key, hour)
);
create index figures_by_hour on figures (hour);
