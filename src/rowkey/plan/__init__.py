"""Which ranges of keys answer a read; no data is touched."""

from rowkey.plan.ranges import KeyRange, Plan, orders_behind, plan_read, spreading
from rowkey.plan.read import Read, bind_reads

__all__ = ["KeyRange", "Plan", "Read", "bind_reads", "orders_behind", "plan_read", "spreading"]
