"""Guesses the role of a column from the words in its name: a time, an identity, a measure.

A hint decides only between readings that the values allow. Chinese headings have no gaps between
words, so theirs are looked for inside the name; the last ones say what a thing is, as in English.
"""

from __future__ import annotations

import re

_WORD_BOUNDARY = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[\u3400-\u9fff])(?=[A-Za-z])|(?<=[A-Za-z0-9])(?=[\u3400-\u9fff])"
)
_SEPARATORS = re.compile(r"[\W_]+")


def _split_words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


_TIME = _split_words(
    "time timestamp ts date datetime day when at epoch created updated occurred clock utc "
    "dt timestamps times since until start end begin"
)
_DATE = _split_words("date day dt ymd")
_EVENT = _split_words("event occurred logged received arrival request")
_IDENTITY = _split_words(
    "id ids uid uuid guid key user username host hostname device sensor client customer "
    "account member visitor session ip address addr mac imei imsi msisdn phone server node "
    "station shop store sku product item order orderid waybill vehicle car driver plate "
    "symbol ticker asset metric tenant app service container pod camera meter tag tailnum "
    "patient card serial userid deviceid sensorid clientid customerid player page site "
    "machine instance stream room channel conversation chat"
)
_MEASURE = _split_words(
    "value amount price cost total sum count counts number qty quantity bytes size length "
    "len duration elapsed latency delay speed distance temp temperature humidity pressure "
    "voltage current power energy score rate ratio percent pct avg mean min max std lat lon "
    "latitude longitude balance fee tax discount weight height width level version retries "
    "attempts rssi rpm gauge reading usage load cpu mem memory visits clicks likes views"
)
_CALENDAR = _split_words(
    "year month week weekday quarter hour minute second dow doy yday millisecond"
)
_CATEGORY = _split_words("status state code type kind category class method protocol flag")
_RECORD = _split_words(
    "id uuid guid order orderid ticket waybill transaction trace invoice receipt"
)

_TIME_ZH = "时间 時間 日期 时刻 時刻"
_DATE_ZH = "日期"
_EVENT_TIMES_ZH = "时间 時間 日期 时刻 時刻 时间戳 時間戳"
_RECORDING_ZH = "事件 发生 發生 采集 採集 上报 上報 下单 下單 交易 记录 記錄 日志 接收 请求 访问"
_IDENTITY_ZH = (
    "用户 用戶 客户 客戶 会员 會員 账号 账户 帐号 帳號 设备 設備 传感器 主机 主機 机器 服务器 车牌 "
    "車牌 车辆 司机 商户 商家 店铺 門店 门店 商品 产品 產品 订单 訂單 运单 单号 單號 编号 編號 "
    "编码 号码 號碼 流水号 手机 電話 电话 身份证 证件 卡号 学号 工号 学生 员工 患者 站点 基站 终端 "
    "网点 租户 应用 仓库 股票 标识 主键 房间 频道 会话 群组"
)
_MEASURE_ZH = (
    "金额 金額 价格 價格 单价 单價 总价 数量 數量 次数 次數 件数 人数 总数 总计 合计 余额 餘額 "
    "温度 溫度 湿度 濕度 压力 电压 电流 功率 能耗 电量 速度 距离 里程 时长 時長 耗时 延迟 长度 "
    "大小 字节 流量 重量 高度 宽度 深度 分数 得分 评分 比例 比率 占比 平均 最大 最小 经度 纬度 "
    "折扣 年龄 版本 方向 航向 海拔"
)
_MEASURE_ENDINGS_ZH = ("量", "额", "額", "率", "费", "費", "数", "數", "值", "价", "價")
"""What a Chinese name of something measured ends with."""
_CALENDAR_ZH = "小时 小時 星期 月份 年份 季度 分钟"
_CALENDAR_UNITS_ZH = ("年", "月", "日", "周", "时", "分", "秒")
_CATEGORY_ZH = "状态 狀態 类型 類型 类别 种类 分类 方式 渠道 级别 等级 性别 标志"
_PERSONAL = _split_words(
    "email mail mobile phone tel telephone msisdn ssn passport surname fullname"
)
_PERSONAL_ZH = "手机 手機 电话 電話 身份证 身份證 证件 邮箱 郵箱 姓名 护照 银行卡"
_PROSE = _split_words("message msg body text comment description content note notes subject remark")
_PROSE_ZH = "消息 内容 內容 备注 備註 描述 正文 说明 留言 评论"
_RECORD_ZH = "订单 訂單 运单 单号 單號 流水号 交易号"


def _has_chinese_word(name: str, known_words: str) -> bool:
    """Return whether a name contains one of some Chinese words."""
    return any(known_word in name for known_word in known_words.split())


def split_name(name: str) -> tuple[str, ...]:
    """Split a column name into its words, in lower case.

    >>> split_name("sched_depTime"), split_name("x-request.id")
    (('sched', 'dep', 'time'), ('x', 'request', 'id'))
    """
    return tuple(word.lower() for word in _SEPARATORS.split(_WORD_BOUNDARY.sub("_", name)) if word)


def is_like_time(name: str) -> bool:
    """Return whether a column name suggests a time or a date.

    >>> is_like_time("createdAt"), is_like_time("amount"), is_like_time("下单时间")
    (True, False, True)
    """
    return bool(_TIME & set(split_name(name))) or _has_chinese_word(name, _TIME_ZH)


def is_like_date(name: str) -> bool:
    """Return whether a column name suggests a day without a time of day.

    >>> is_like_date("call_date"), is_like_date("call_time"), is_like_date("通话日期")
    (True, False, True)
    """
    return bool(_DATE & set(split_name(name))) or _has_chinese_word(name, _DATE_ZH)


def is_like_event(name: str) -> bool:
    """Return whether a column name suggests the event's own time, not a deadline.

    >>> is_like_event("ts"), is_like_event("birth_date"), is_like_event("采集时间")
    (True, False, True)
    """
    name_words = split_name(name)
    if name in _EVENT_TIMES_ZH.split() or (
        _has_chinese_word(name, _TIME_ZH) and _has_chinese_word(name, _RECORDING_ZH)
    ):
        return True
    return bool(_EVENT & set(name_words)) or (
        len(name_words) == 1 and bool(_TIME & set(name_words))
    )


def is_like_identity(name: str) -> bool:
    """Return whether a column name suggests an entity that events belong to.

    >>> is_like_identity("customer_id"), is_like_identity("humidity"), is_like_identity("订单号")
    (True, False, True)
    """
    has_identity_word = bool(_IDENTITY & set(split_name(name)[-2:])) or _has_chinese_word(
        name, _IDENTITY_ZH
    )
    is_other = (
        is_like_measure(name)
        or _has_chinese_word(name, _TIME_ZH)
        or _has_chinese_word(name, _CATEGORY_ZH)
    )
    return has_identity_word and not is_other


def is_like_record(name: str) -> bool:
    """Return whether a column name suggests an id of one row, such as an order number.

    >>> is_like_record("order_id"), is_like_record("订单号"), is_like_record("user_id")
    (True, True, False)
    """
    if not is_like_identity(name) or _has_chinese_word(name, _RECORD_ZH):
        return is_like_identity(name)
    identity_words = _IDENTITY & set(split_name(name))
    return bool(identity_words) and identity_words <= _RECORD


def is_like_measure(name: str) -> bool:
    """Return whether a column name suggests a measured or counted quantity.

    >>> is_like_measure("bytes_sent"), is_like_measure("order_count"), is_like_measure("host")
    (True, True, False)
    """
    name_words = split_name(name)
    is_named = len(name_words) > 1 and name_words[-1] == "number"
    if is_named or (name_words and name_words[-1] in {"id", "key", "uuid", "no"}):
        return False
    return (
        bool(_MEASURE & set(name_words))
        or _has_chinese_word(name, _MEASURE_ZH)
        or name.endswith(_MEASURE_ENDINGS_ZH)
    )


def is_like_calendar(name: str) -> bool:
    """Return whether a column name suggests a component of a time, such as the hour.

    >>> is_like_calendar("month"), is_like_calendar("dep_hour"), is_like_calendar("ts")
    (True, True, False)
    """
    name_words = set(split_name(name))
    return (
        bool(_CALENDAR & name_words)
        or name_words == {"day"}
        or _has_chinese_word(name, _CALENDAR_ZH)
        or (name in _CALENDAR_UNITS_ZH)
    )


def is_like_category(name: str) -> bool:
    """Return whether a column name suggests a category, such as a log level.

    >>> is_like_category("http_status"), is_like_category("支付状态")
    (True, True)
    """
    return bool(_CATEGORY & set(split_name(name))) or _has_chinese_word(name, _CATEGORY_ZH)


def is_like_personal(name: str) -> bool:
    """Return whether a column name suggests personal data, which keys should not hold.

    >>> is_like_personal("email"), is_like_personal("手机号"), is_like_personal("user_id")
    (True, True, False)
    """
    name_words = split_name(name)
    return bool(_PERSONAL & set(name_words) and name_words[-1] != "id") or _has_chinese_word(
        name, _PERSONAL_ZH
    )


def is_like_prose(name: str) -> bool:
    """Return whether a column name suggests free text.

    >>> is_like_prose("Message"), is_like_prose("message_id"), is_like_prose("备注")
    (True, False, True)
    """
    name_words = split_name(name)
    return bool(name_words and name_words[-1] in _PROSE) or _has_chinese_word(name, _PROSE_ZH)
