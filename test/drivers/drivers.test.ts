import { after, before, suite } from 'node:test'
import { firstReleases } from '../../simulator/world/release.ts'
import { isAtLeast } from '../../src/domain/values/release.ts'
import { customerContract } from './customers.ts'
import { dryRunContract } from './dry-runs.ts'
import { orderNameContract } from './order-names.ts'
import { quoteContract } from './quotes.ts'
import { readContract } from './reads.ts'
import { missingReturnContract, returnContract } from './returns.ts'
import { saleContract } from './sales.ts'
import { drivers, type Shop } from './shop.ts'
import { voucherContract } from './vouchers.ts'

/** Tests every driver over HTTPS with the same contracts, because callers must not notice which driver they use. */
for (const { name, release, open } of drivers)
  suite(name, () => {
    let shop: Shop
    before(async () => {
      shop = await open()
    })
    after(() => shop.stop())
    // Must run first, because the other contracts change the data.
    readContract(() => shop)
    customerContract(() => shop)
    voucherContract(() => shop)
    saleContract(() => shop)
    quoteContract(() => shop)
    orderNameContract(() => shop)
    const addReturnContract = isAtLeast(release, firstReleases.returns) ? returnContract : missingReturnContract
    addReturnContract(() => shop)
    dryRunContract(() => shop)
  })
