import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { findSkus } from '../../store/catalog/skus.ts'

/** The identifier of the SKU that gift vouchers are sold as; undefined where the setting names none, or one that no product has. */
export async function giftCardSkuId(db: Db, service: Service): Promise<string | undefined> {
  const { giftCardSku } = service.settings
  const [found] = giftCardSku === null ? [] : await findSkus(db, service, [giftCardSku])
  return found?.skuId
}
