import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { raw, sql } from '../../../src/database/db.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { assertProblem, withoutRequestData } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'
import { fillWithCanaries, toCanaryPath } from './canaries.ts'

// Each SQL statement filters by service instead of using row-level security, which some roles bypass. So the database
// role makes no difference.

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())
const shops = [api, await api.createService({ readsPerMinute: 'off', writesPerMinute: 'off' })] as const
for (const [i, caller] of shops.entries()) await fillWithCanaries(api, caller, `canary-${i}-`)

const roles = {
  'is a superuser': 'superuser',
  'can bypass policies': 'nosuperuser bypassrls',
  'can only read and write rows': 'nosuperuser nobypassrls',
}

for (const [label, attributes] of Object.entries(roles))
  test(`a database role that ${label} cannot read or change another service's record`, async () => {
    const role = `role_${process.pid}_${Object.keys(roles).indexOf(label)}`
    await api.db.run(sql`create role ${raw(role)} login ${raw(attributes)}`)
    const connection = Object.assign(new URL(api.database.connection), { username: role }).href
    const grants = ['tables', 'sequences'].map(
      kind => sql`grant all on all ${raw(kind)} in schema public to ${raw(role)}`,
    )
    for (const grant of grants) await api.db.run(grant)
    const secondApi = await startTestApi({ sharedWith: { ...api, database: { ...api.database, connection } } })
    try {
      assert.deepEqual(await secondApi.db.row(sql`select current_user::text as role`), { role })
      const paths = Object.entries<Record<string, unknown>>((await api.sendRaw('/openapi.json')).json.paths)
        .filter(([path, { get }]) => get && /\{/.test(path) && !/^\/(errors|vouchers)\//.test(path))
        .map(([path]) => path)
      for (const path of paths) {
        const toPath = (id: string) => toCanaryPath(path, id)
        assert.equal((await secondApi.get(toPath('canary-0-id'))).status, 200, path)
        const [other, unknown] = [await secondApi.get(toPath('canary-1-id')), await secondApi.get(toPath('no-such-id'))]
        assertProblem(other, 'not_found', secondApi.baseUrl, toPath('canary-1-id'))
        assert.deepEqual(withoutRequestData(other), withoutRequestData(unknown), path)
      }
      const created = await post(secondApi, '/customers', buildCustomer())
      assert.equal(created.status, 201, created.text)
      const mapped = await put(secondApi, '/mappings/stores/canary-1-id', { ecommerceLocationId: '1' })
      assert.equal(mapped.status, 404)
      assert.equal((await shops[1].get(`/customers/${created.json.data.id}`)).status, 404)
    } finally {
      await secondApi.stop()
      await api.db.run(sql`drop owned by ${raw(role)}`)
      await api.db.run(sql`drop role ${raw(role)}`)
    }
  })
