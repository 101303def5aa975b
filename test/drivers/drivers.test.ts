import { after, before, suite } from 'node:test'
import { firstReleases } from '../../simulator/world/release.ts'
import { isAtLeast } from '../../src/domain/values/release.ts'
import { addCustomerContract } from './customers.ts'
import { addDryRunContract } from './dry-runs.ts'
import { addOrderNameContract } from './order-names.ts'
import { addQuoteContract } from './quotes.ts'
import { addReadContract } from './reads.ts'
import { addMissingReturnContract, addReturnContract } from './returns.ts'
import { addSaleContract } from './sales.ts'
import { drivers, type Shop } from './shop.ts'
import { addVoucherContract } from './vouchers.ts'

/** Tests every driver over HTTPS with the same contracts, because callers must not notice which driver they use. */
for (const { name, release, open } of drivers)
  suite(name, () => {
    let shop: Shop
    before(async () => {
      shop = await open()
    })
    after(() => shop.stop())
    // Must run first, because the other contracts change the data.
    addReadContract(() => shop)
    addCustomerContract(() => shop)
    addVoucherContract(() => shop)
    addSaleContract(() => shop)
    addQuoteContract(() => shop)
    addOrderNameContract(() => shop)
    if (isAtLeast(release, firstReleases.returns)) addReturnContract(() => shop)
    else addMissingReturnContract(() => shop)
    addDryRunContract(() => shop)
  })
