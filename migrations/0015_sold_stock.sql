-- Stock that an order has just taken is not overwritten by stock that the back office reported before it.

alter table stock add column sold_at timestamptz;
comment on column stock.sold_at is
  'When an order last took units off `free_stock`. Stock that was read from the back office before this time can only lower it.';
