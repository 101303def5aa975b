import type { Route } from '../http/router.ts'
import { listFreightOptions, priceCart } from './carts.ts'
import { redeemCoupon, releaseCoupon } from './coupons.ts'
import { getColourFreestock, getSkuFreestock, getStyleFreestock, listFreestock } from './freestock.ts'
import { createOrder } from './order-post.ts'
import { getOrderByNumber, getPersonOrder, listOrders, listPersonOrders } from './orders.ts'
import { createPerson, updatePerson } from './person-write.ts'
import { findPersons, getPerson, getPersonTimestamp, listPersonTemplates } from './persons.ts'
import {
  createDistinctHandler,
  getProduct,
  getProductNotes,
  getSimpleProduct,
  listFuturePrices,
  listProducts,
  listSimpleProducts,
  rejectNoData,
  rejectTemplates,
} from './products.ts'
import { createTypesHandler, getReferenceType, listReferences, listReferenceTypes } from './references.ts'
import { createReturn, deleteReturn, getReturn } from './returns.ts'
import { confirmRedemption, createRedeemHandler, reverseRedemption } from './reward-redemptions.ts'
import { createAccount, updateAccount } from './reward-writes.ts'
import { getAccount, listAccountTransactions, listPrograms } from './rewards.ts'
import { listShipments } from './shipments.ts'
import { listStockChanges } from './stock-changed.ts'
import { getStore, listStores } from './stores.ts'
import { listTransactions } from './transactions.ts'
import { lockVoucher, lookUpVoucher, rejectUnlicensed, validateVoucher } from './vouchers.ts'

const createGetRoute = (path: string, handle: Route['handle'], since?: Route['since']): Route => ({
  method: 'GET',
  path,
  handle,
  ...(since && { since }),
})

const createTypesRoute = (...[kind, root, object]: Parameters<typeof createTypesHandler>): Route =>
  createGetRoute(`/${root}`, createTypesHandler(kind, root, object))

const colours = createDistinctHandler('Colours', 'Colour', style =>
  style.colours.map(({ code, name }) => ({ code, name })),
)
const sizes = createDistinctHandler('Sizes', 'Size', style =>
  style.colours.flatMap(({ skus }) => skus.map(({ size, sizeName }) => ({ code: size, name: sizeName }))),
)

/**
 * The calls of the API. Paths without parameters come first. The coupon list, ReferenceTree, issuing rewards and redeeming gifts aren't
 * simulated: they return a 404 page.
 */
export const routes: readonly Route[] = [
  createGetRoute('/Stores', listStores),
  createGetRoute('/Stores/{id}', getStore),

  createGetRoute('/Products', listProducts),
  createGetRoute('/Products/FuturePrices', listFuturePrices, 'futurePrices'),
  createGetRoute('/Products/CustomDataTemplates', rejectTemplates, 'productCustomData'),
  createGetRoute('/Products/CustomDataTemplates/{name}', rejectTemplates, 'productCustomData'),
  createGetRoute('/Products/{id}', getProduct),
  createGetRoute('/Products/{id}/YouMightLikeProducts', rejectNoData),
  createGetRoute('/ProductsSimple', listSimpleProducts),
  createGetRoute('/ProductsSimple/{id}', getSimpleProduct),
  createGetRoute('/ProductNotes/{id}', getProductNotes),
  createGetRoute('/ProductColourNotes/{id}', rejectNoData),
  createTypesRoute('product', 'ProductReferenceTypes', { id: 1, name: 'Product' }),
  createTypesRoute('colour', 'ProductColourReferenceTypes', { id: 21, name: 'Colour' }),
  createGetRoute('/Colours', colours),
  createGetRoute('/Sizes', sizes),

  createGetRoute('/Freestock/style/{id}', getStyleFreestock),
  createGetRoute('/Freestock/clr/{id}', getColourFreestock),
  createGetRoute('/Freestock/sku/{id}', getSkuFreestock),
  createGetRoute('/Freestock/AllStyles', listFreestock, 'allStyles'),
  createGetRoute('/Freestock/AllStyles/{storeId}', listFreestock, 'allStyles'),
  createGetRoute('/StockChanged', listStockChanges),

  createGetRoute('/ReferenceTypes', listReferenceTypes),
  createGetRoute('/ReferenceTypes/{id}', getReferenceType),
  createGetRoute('/References/{typeId}', listReferences),
  createGetRoute('/References/{typeId}/{id}', listReferences),
  createTypesRoute('person', 'PersonReferenceTypes', { id: 12, name: 'Person' }),

  createGetRoute('/Persons', findPersons),
  { method: 'POST', path: '/Persons', handle: createPerson },
  createGetRoute('/Persons/CustomDataTemplates', listPersonTemplates),
  createGetRoute('/Persons/CustomDataTemplates/{name}', listPersonTemplates),
  createGetRoute('/Persons/{id}', getPerson),
  { method: 'PUT', path: '/Persons/{id}', handle: updatePerson },
  createGetRoute('/Persons/{id}/UpdateTimeStamp', getPersonTimestamp),
  createGetRoute('/Persons/{id}/RetailTransactions', listTransactions),

  createGetRoute('/Orders', listOrders, 'ordersOfEveryone'),
  createGetRoute('/Orders/{number}', getOrderByNumber),
  createGetRoute('/OrderNumbers/{number}', getOrderByNumber),
  createGetRoute('/Persons/{id}/Orders', listPersonOrders),
  { method: 'POST', path: '/Persons/{id}/Orders', handle: createOrder },
  createGetRoute('/Persons/{id}/Orders/{order}', getPersonOrder),
  createGetRoute('/Persons/{id}/Shipments/{order}', listShipments),
  { method: 'POST', path: '/Persons/{id}/Orders/{order}/Returns', handle: createReturn, since: 'returns' },
  createGetRoute('/Persons/{id}/Orders/{order}/Returns/{return}', getReturn, 'returns'),
  { method: 'DELETE', path: '/Returns/{return}', handle: deleteReturn, since: 'returns' },

  { method: 'PUT', path: '/Carts/{id}', handle: priceCart },
  createGetRoute('/FreightOptions', listFreightOptions, 'freightOptions'),

  { method: 'POST', path: '/Coupons/Redemptions', handle: redeemCoupon, since: 'coupons' },
  { method: 'DELETE', path: '/Coupons/Redemptions/{requestId}', handle: releaseCoupon, since: 'coupons' },

  createGetRoute('/Voucher/{number}', lookUpVoucher),
  createGetRoute('/Voucher/GVValid/{number}', validateVoucher),
  { method: 'PUT', path: '/Voucher/Lock/{number}', handle: lockVoucher },
  createGetRoute('/Vouchers/VouchersSimple', rejectUnlicensed, 'simpleFeeds'),

  createGetRoute('/Rewards/Programs', listPrograms),
  createGetRoute('/Rewards/Programs/{id}', listPrograms),
  { method: 'POST', path: '/Rewards/Accounts', handle: createAccount },
  createGetRoute('/Rewards/Accounts/{id}', getAccount),
  { method: 'PUT', path: '/Rewards/Accounts/{id}', handle: updateAccount },
  createGetRoute('/Rewards/Accounts/{id}/Transactions', listAccountTransactions),
  { method: 'POST', path: '/Rewards/Accounts/{id}/Points/Redemptions', handle: createRedeemHandler('points') },
  { method: 'POST', path: '/Rewards/Accounts/{id}/Rewards/Redemptions', handle: createRedeemHandler('rewards') },
  { method: 'POST', path: '/Rewards/Confirmation', handle: confirmRedemption },
  { method: 'POST', path: '/Rewards/Reversal', handle: reverseRedemption },
  createGetRoute('/Rewards/RewardsSimple', rejectUnlicensed, 'simpleFeeds'),
  createGetRoute('/Rewards/ExpiredRewardsSimple', rejectUnlicensed, 'expiredRewards'),
]
