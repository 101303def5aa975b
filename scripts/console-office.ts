import { startSimulator } from '../simulator/simulator.ts'
import { sql } from '../src/database/db.ts'
import { setBackOffice } from '../src/store/backoffice/connections.ts'
import { until } from '../test/support/processes.ts'
import type { Caller, TestService } from '../test/support/service.ts'

/** A service with a head office behind it, as its feeds and calls might stand after a day. */
export async function openOffice(service: TestService): Promise<{ office: Caller; close(): Promise<void> }> {
  const { db, keys } = service
  const simulator = await startSimulator()
  const office = await service.tenant({ currency: 'AUD', timeZone: 'Australia/Melbourne' })
  const id = office.service.id
  await setBackOffice(db, keys, office.service, { driver: 'apparel21', url: simulator.url, country: 'AU' })
  await until(async () => (await office.get('/feeds')).json.data.length > 5, 'the back office is known', 20_000)
  const feeds = (await office.get('/feeds')).json.data.map(({ feed }: { feed: string }) => feed)
  await db.run(sql`
    insert into sync_state (service_id, feed, since, started_at, finished_at, full_at)
    select ${id}, feed, '1', at - interval '4 s', at, now() - interval '7 hours'
      from unnest(${feeds}::text[]) with ordinality f (feed, n), lateral (select now() - (40 + n * 29 % 180) * interval '1 s' as at) ended
    on conflict (service_id, feed) do update set (started_at, finished_at, full_at) = (excluded.started_at, excluded.finished_at, excluded.full_at)`)
  await db.run(sql`
    insert into feed_run (service_id, feed, changed_at, ended_at, origin, is_whole, read, inserted, changed, refused)
    select service_id, feed, started_at, finished_at, 'backOffice', false, length(feed) * 37, length(feed) % 3, length(feed) * 5, 0
      from sync_state where service_id = ${id}`)
  await db.run(sql`
    insert into call_minute (service_id, minute, calls, failed, milliseconds, slowest)
    select ${id}, date_trunc('minute', now()) - n * interval '1 minute', calls, case when n between 300 and 309 then calls / 2 else 0 end, calls * average,
           average * (2.2 + sin(n * n))
      from generate_series(0, 1439) n,
           lateral (select (8 + 6 * sin(n / 229.0))::integer + 1 as calls,
                           70 + 20 * sin(n / 97.0) + 9 * sin(n * 7) + case when n between 296 and 314 then 900 else 0 end as average) told
    on conflict (service_id, minute) do nothing`)
  return { office, close: () => simulator.close() }
}
