-- Why a switch stands as it does; of `deploys`, refused customers read it.
alter table switches add column reason text;
