import { startSimulator } from '../simulator/simulator.ts'
import { sql } from '../src/database/db.ts'
import { setBackOffice } from '../src/store/backoffice/connections.ts'
import { waitUntil } from '../test/support/processes.ts'
import type { Caller, TestApi } from '../test/support/service.ts'

/** Creates a service with a back office, and the sync runs and calls of a day. */
export async function openBackOfficeService(service: TestApi): Promise<{ office: Caller; close(): Promise<void> }> {
  const { db, keys } = service
  const simulator = await startSimulator()
  const office = await service.createService({ currency: 'AUD', timeZone: 'Australia/Melbourne' })
  const id = office.service.id
  await setBackOffice(db, keys, office.service, { driver: 'apparel21', url: simulator.url, country: 'AU' })
  await waitUntil(async () => (await office.get('/syncs')).json.data.length > 5, 'the syncs are listed', 20_000)
  const syncs = (await office.get('/syncs')).json.data.map(({ sync }: { sync: string }) => sync)
  await db.run(sql`
    insert into sync_state (service_id, sync, since, started_at, finished_at, full_at)
    select ${id}, sync, '1', at - interval '4 s', at, now() - interval '7 hours'
      from unnest(${syncs}::text[]) with ordinality f (sync, n), lateral (select now() - (40 + n * 29 % 180) * interval '1 s' as at) ended
    on conflict (service_id, sync) do update set (started_at, finished_at, full_at) = (excluded.started_at, excluded.finished_at, excluded.full_at)`)
  await db.run(sql`
    insert into sync_run (service_id, sync, changed_at, ended_at, origin, is_full, read, inserted, changed, rejected)
    select service_id, sync, started_at, finished_at, 'backOffice', false, length(sync) * 37, length(sync) % 3, length(sync) * 5, 0
      from sync_state where service_id = ${id}`)
  await db.run(sql`
    insert into call_minute (service_id, minute, calls, failed, milliseconds, slowest)
    select ${id}, date_trunc('minute', now()) - n * interval '1 minute', calls, case when n between 300 and 309 then calls / 2 else 0 end, calls * average,
           average * (2.2 + sin(n * n))
      from generate_series(0, 1439) n,
           lateral (select (8 + 6 * sin(n / 229.0))::integer + 1 as calls,
                           70 + 20 * sin(n / 97.0) + 9 * sin(n * 7) + case when n between 296 and 314 then 900 else 0 end as average) minutes
    on conflict (service_id, minute) do nothing`)
  return { office, close: () => simulator.close() }
}
